import { describe, expect, test } from 'vitest';
import { hasWords, stripMarkup } from '../../../src/engines/text/markup.ts';

describe('stripping markup', () => {
  test.each([
    ['<i>Hello</i> <font color="#ff0000">you</font>', 'Hello you'],
    ['{\\an8}Above', 'Above'],
    ['a < b and b > c', 'a < b and b > c'],
    ['one\r\ntwo\rthree', 'one\ntwo\nthree'],
    ['bell\u0007 and\u0001 command\u001b[31m', 'bell and command [31m'],
    ['\u202Eolleh\u202C', 'olleh'],
    ['  much   room  ', 'much room'],
    ['{not an instruction}', '{not an instruction}'],
  ])('%j becomes %j', (text, plain) => {
    expect(stripMarkup(text)).toBe(plain);
  });

  test('of a megabyte of opening brackets is done at once, not in the minutes of its square', () => {
    const tags = '<a '.repeat(350_000).trim();
    const overrides = '{\\'.repeat(500_000);
    expect(stripMarkup(tags) === tags).toBe(true);
    expect(stripMarkup(overrides) === overrides).toBe(true);
  });
});

test('words are letters or digits of any script', () => {
  expect(['♪ ♪', '…', '- -', ''].some(hasWords)).toBe(false);
  expect(['a', '7', 'да', '中'].every(hasWords)).toBe(true);
});
