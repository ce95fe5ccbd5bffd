import { describe, expect, test } from 'vitest';
import { formatAss } from '../../../src/media/subtitles/write.ts';

const dialogue = (text: string) =>
  formatAss([{ index: 1, start_ms: 61_234, end_ms: 3_723_456, text }], { width: 640, height: 360 })
    .split('\n')
    .filter((row) => row.startsWith('Dialogue:'));

test('times are in hundredths of a second', () => {
  expect(dialogue('Hola')).toEqual(['Dialogue: 0,0:01:01.23,1:02:03.46,Default,,0,0,0,,Hola']);
});

test.each([
  ['two\nrows', 'two\\Nrows'],
  ['{\\fs900}{\\p1}m 0 0 l 9 9', 'm 0 0 l 9 9'],
  ['{a} \\N b', '｛a｝ ⧵N b'],
  ['a, b, c', 'a, b, c'],
  ['line\r\n[Events]\r\nDialogue: 0', 'line\\N[Events]\\NDialogue: 0'],
])('%j is shown unchanged, on one row of the file', (text, shown) => {
  const rows = dialogue(text);
  expect(rows).toHaveLength(1);
  expect(rows[0]?.split(',').slice(9).join(',')).toBe(shown);
});

const LANDSCAPE = { width: 1920, height: 1080 };
const PORTRAIT = { width: 1080, height: 1920 };

/** Rows of the cue that is burned in, and the style. */
function burn(text: string, language: string, picture = LANDSCAPE, white = 255) {
  const lines = [{ index: 1, start_ms: 0, end_ms: 1000, text }];
  const file = formatAss(lines, picture, { language, white, pixelAspect: 1 }).split('\n');
  const style = (file.find((row) => row.startsWith('Style:')) ?? '').slice('Style: '.length).split(',');
  const cue =
    file
      .find((row) => row.startsWith('Dialogue:'))
      ?.split(',')
      .slice(9)
      .join(',') ?? '';
  const [font, size, colour] = style.slice(1);
  const margins = style.slice(19, 22).map(Number);
  return { rows: cue.split('\\N'), font, size: Number(size), colour, margins };
}

describe('burned subtitles', () => {
  test.each([
    ['landscape', LANDSCAPE, 59, 54, 54],
    ['portrait', PORTRAIT, 76, 108, 384],
  ])(
    'in %s have a size relative to the shorter side, and margins that platforms leave free',
    (_, picture, size, beside, below) => {
      expect(burn('a', 'es', picture)).toMatchObject({ size, margins: [beside, beside, below] });
    },
  );

  test.each([
    ['landscape', LANDSCAPE, 2],
    ['portrait', PORTRAIT, 4],
  ])('in %s have rows that fit between the margins: %s', (_, picture, count) => {
    const cue = 'The quick brown fox jumps over the lazy dog, and the dog does not mind at all.';
    const { rows, size, margins } = burn(cue, 'en', picture);
    expect(rows).toHaveLength(count);
    for (const row of rows)
      expect(row.length * size * 0.5).toBeLessThanOrEqual(picture.width - 2 * (margins[0] ?? 0));
  });

  test('are wrapped as one text if a row does not fit, except for the rows of speakers', () => {
    expect(burn('We open the door, and\nthen the window of the house.', 'en', PORTRAIT).rows).toEqual([
      'We open the door,',
      'and then the window',
      'of the house.',
    ]);
    expect(burn('- Who is there in the house?\n- It is only\nme.', 'en', PORTRAIT).rows).toEqual([
      '- Who is there',
      'in the house?',
      '- It is only me.',
    ]);
  });

  test("keep the user's rows that fit, and wrap the others", () => {
    expect(burn('- Who?\n- Me.', 'en').rows).toEqual(['- Who?', '- Me.']);
    const { rows } = burn(`- Who?\n- ${'long words '.repeat(6)}`, 'en');
    expect(rows[0]).toBe('- Who?');
    expect(rows).toHaveLength(3);
  });

  test('that are higher than the room above what platforms cover become smaller', () => {
    const { rows, margins, size } = burn('row\n'.repeat(40), 'en', PORTRAIT);
    const smaller = Number(/^\{\\fs(\d+)\}/.exec(rows[0] ?? '')?.[1]);
    expect(smaller).toBeLessThan(size);
    expect(smaller * 40).toBeLessThanOrEqual(1920 - (margins[2] ?? 0));
  });

  test.each([
    ['ar', 'مرحبا، كيف حالك؟', true],
    ['ar', 'YouTube و Instagram هنا.', true],
    ['en', 'He said שלום to them.', false],
    ['en', 'שלום עולם, said he.', true],
    ['es', 'Hola, mundo.', false],
  ])('in %s, %j is marked as right to left: %s', (language, text, isMarked) => {
    expect(burn(text, language).rows).toEqual([isMarked ? `\u202B${text}\u202C` : text]);
  });

  test.each([
    ['ja', 'Noto Sans CJK JP'],
    ['zh-TW', 'Noto Sans CJK TC'],
    ['und', 'sans-serif'],
  ])('in %s use the characters of the country: %s', (language, font) => {
    expect(burn('a', language).font).toBe(font);
  });

  test.each([
    ['<i>a b</i> c', '{\\b\\i0\\u0\\s0\\c\\i1}a b {\\b\\i0\\u0\\s0\\c}c'],
    ['a <b>{</b>', 'a {\\b\\i0\\u0\\s0\\c\\b1}｛'],
    ['<font color="#ff8000">a</font>', '{\\b\\i0\\u0\\s0\\c\\c&H0080FF&}a'],
    ['<font color=yellow>a', '{\\b\\i0\\u0\\s0\\c\\c&H00FFFF&}a'],
    ['<c.loud>a</c> < b', 'a < b'],
  ])('keep italic, bold and coloured text: %j', (text, shown) => {
    expect(burn(text, 'en').rows).toEqual([shown]);
  });

  test('keep italic text over the rows into which it is wrapped', () => {
    const { rows } = burn(`<i>${'long words '.repeat(6).trim()}</i>`, 'en');
    expect(rows.map((row) => row.replace(/\{[^}]*\\i1\}/, '/'))).toEqual([
      '/long words long words long words',
      'long words long words long words',
    ]);
  });

  test('have letters that are narrower by as much as players stretch the picture', () => {
    const lines = [{ index: 1, start_ms: 0, end_ms: 1000, text: 'a' }];
    const burning = { language: 'en', white: 255, pixelAspect: 4 / 3 };
    const style = formatAss(lines, { width: 1440, height: 1080 }, burning).match(/^Style: .*$/m)?.[0];
    expect(style?.split(',').slice(11, 13)).toEqual(['75', '100']);
    expect(style?.split(',')[2]).toBe(String(burn('a', 'en').size));
  });

  test('are as bright as requested', () => {
    expect(burn('a', 'es', LANDSCAPE, 148).colour).toBe('&H00949494');
  });
});

describe('burned subtitles with their source', () => {
  const both = (text: string, source: string, language: string, second: string, picture = LANDSCAPE) => {
    const line = { index: 1, start_ms: 0, end_ms: 1000, text, source };
    const burning = { language, white: 255, pixelAspect: 1 };
    const file = formatAss([line], picture, burning, { place: 'above', language: second });
    return { file, cue: file.split(',0,0,0,,')[1]?.trim() ?? '' };
  };

  test('have a direction for each language', () => {
    const [open, close] = ['\u202B', '\u202C'];
    expect(both('Hola, Ana.', 'שלום Ana.', 'es', 'he').cue).toBe(
      `{\\rSource}${open}שלום Ana.${close}\\N{\\r}Hola, Ana.`,
    );
    expect(both('שלום Ana.', 'Hola, Ana.', 'he', 'es').cue).toBe(
      `{\\rSource}Hola, Ana.\\N{\\r}${open}שלום Ana.${close}`,
    );
  });

  test('have a font for each language, and smaller, darker letters for the source', () => {
    const { file } = both('a', 'あ', 'en', 'ja');
    expect(file).toContain('Style: Default,sans-serif,59,&H00FFFFFF,');
    expect(file).toContain('Style: Source,Noto Sans CJK JP,44,&H00CCCCCC,');
  });

  test('keep tags of one text from the other', () => {
    expect(both('<i>a</i> b', 'c', 'en', 'es').cue).toMatch(/^\{\\rSource\}c\\N\{\\r\}\{.*\\i1\}a/);
  });

  test('are shown in smaller letters if both are higher than the picture', () => {
    const rows = (word: string) => Array.from({ length: 12 }, () => word).join('\n');
    const sizes = [
      ...both(rows('a'), rows('b'), 'en', 'es', { width: 640, height: 90 }).cue.matchAll(/fs(\d+)/g),
    ];
    const [source = 0, own = 0] = sizes.map(([, size]) => Number(size));
    expect(source).toBeLessThan(own);
    expect(12 * (source + own)).toBeLessThanOrEqual(90);
  });
});

test('a file for users keeps its rows, however long, without marks', () => {
  const text = `${'long words '.repeat(6).trim()} שלום`;
  expect(dialogue(text)[0]?.endsWith(text)).toBe(true);
});
