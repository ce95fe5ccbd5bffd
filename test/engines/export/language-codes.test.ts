import { expect, test } from 'vitest';
import { threeLetterCode } from '../../../src/engines/export/language-codes.ts';

test.each([
  ['es', 'spa'],
  ['es-419', 'spa'],
  ['zh-Hans', 'zho'],
  ['de', 'deu'],
  ['yue', 'yue'],
  ['x', 'und'],
])('%s is %s', (tag, code) => {
  expect(threeLetterCode(tag)).toBe(code);
});

test('every code stands for the language that it is listed for', () => {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const tags = letters.flatMap((first) => letters.map((second) => first + second));
  const known = tags.map((tag) => [tag, threeLetterCode(tag)] as const).filter(([, code]) => code !== 'und');
  expect(known.length).toBeGreaterThan(100);
  // BCP 47 writes a language with two letters where there are two: the three lead back to them.
  for (const [tag, code] of known) {
    expect(new Intl.Locale(code).language).toBe(new Intl.Locale(tag).language);
  }
});
