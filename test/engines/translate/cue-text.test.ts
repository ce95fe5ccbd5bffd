import { describe, expect, test } from 'vitest';
import { takeApart } from '../../../src/engines/translate/cue-text.ts';

/** A translation that can be seen: the text in lower case, reversed word by word. */
const translate = (text: string) =>
  takeApart(text).restore(takeApart(text).texts.map((part) => part.toLowerCase().replace(/[.?!]/g, '')));

describe('a cue', () => {
  test.each([
    ['Hello there.', 'Hello there.'],
    ['hello there', 'hello there'],
    ['¿Really?', '¿Really?'],
    ['<i>Far away</i>', '<i>Far away</i>'],
    ['{\\an8}Above.', '{\\an8}Above.'],
    ['- Yes.\n- No!', '- Yes.\n- No!'],
  ])('%j keeps its form', (text, expected) => {
    expect(translate(text)).toBe(expected);
  });

  test('of one speaker is one text, though it has two rows', () => {
    expect(takeApart('He was not\nan ill man').texts).toEqual(['He was not an ill man']);
  });

  test('of two speakers is two texts', () => {
    expect(takeApart('- Are you well?\n– Quite.').texts).toEqual(['Are you well?', 'Quite.']);
  });

  test('without words is left as it is', () => {
    expect(takeApart('♪ ♪').texts).toEqual([]);
    expect(takeApart('♪ ♪').restore([])).toBe('♪ ♪');
  });

  test('whose translation is longer is wrapped anew', () => {
    const rows = takeApart('Short')
      .restore(['palabra '.repeat(9)])
      .split('\n');
    expect(rows).toHaveLength(2);
  });
});
