import { expect, test } from 'vitest';
import {
  builtInStyle,
  chooseLimits,
  countCharacters,
  parseStyle,
  STYLE_NAMES,
} from '../../../src/media/subtitles/style.ts';

/** Every number of a style by its path. */
function numbersOf(value: object, before = ''): string[] {
  return Object.entries(value).flatMap(([name, each]) =>
    typeof each === 'number'
      ? [before + name]
      : typeof each === 'object' && name !== 'sources'
        ? numbersOf(each, `${before}${name}.`)
        : [],
  );
}

test.each(STYLE_NAMES)('each number of %s names its guide and a date', (name) => {
  const style = builtInStyle(name);
  for (const number of numbersOf(style))
    expect(style.sources?.[number], number).toMatch(/(19|20)\d\d|Television/);
  expect(Object.keys(style.sources ?? {}).toSorted()).toEqual(numbersOf(style).toSorted());
});

test.each([
  ['netflix', 'en', 20, 42],
  ['netflix', 'ja', 4, 13],
  ['netflix-children', 'es', 13, 42],
  ['netflix-sdh', 'ja', 7, 16],
  ['bbc', 'en', 15, 37],
] as const)('%s asks for %s: %d characters per second, %d per row', (name, language, perSecond, perRow) => {
  const limits = chooseLimits(builtInStyle(name), language, '');
  expect([limits.charactersPerSecond, limits.charactersPerRow]).toEqual([perSecond, perRow]);
});

test('without a language, the script of the text decides, and Latin letters have the default', () => {
  const perSecond = (text: string) => chooseLimits(builtInStyle('netflix'), null, text).charactersPerSecond;
  const texts = [
    'Good morning',
    'Доброе утро',
    'これはペンです',
    '今天天气很好',
    '안녕하세요',
    'صباح الخير',
    'सुप्रभात',
  ];
  expect(texts.map(perSecond)).toEqual([17, 17, 4, 9, 12, 20, 22]);
});

test('in Chinese, Japanese and Korean, narrow characters count a half; marks never count', () => {
  expect(countCharacters('안녕 OK.', { isWide: true })).toBe(4);
  expect(countCharacters('cafe\u0301', { isWide: false })).toBe(4);
});

test('a style takes what it does not say from the one that it extends', () => {
  const style = parseStyle(
    '\uFEFF{"extends": "netflix-sdh", "characters_per_second": {"es": 15}, "rows": 3}',
  );
  if (typeof style === 'string') throw new Error(style);
  const perSecond = (language: string) => chooseLimits(style, language, '').charactersPerSecond;
  expect([perSecond('es'), perSecond('ja'), style.rows, style.gap_frames]).toEqual([15, 7, 3, 2]);
});

test.each([
  ['{', /^it is not valid JSON: /],
  ['7', /^unknown field, or not an object/],
  ['{"row": 2}', /^row unknown field/],
  ['{"extends": "hbo"}', /^extends must be one of netflix, /],
  ['{"rows": 0}', /^rows must be at least 1/],
  ['{"characters_per_second": {"Spanish": 17}}', /^characters_per_second\.Spanish must be a language/],
])('%s is refused with the reason', (text, reason) => {
  expect(parseStyle(text)).toMatch(reason);
});
