import { describe, expect, test } from 'vitest';
import { hasWords, joinSpaced, spokenText, stripMarkup } from '../../../src/media/subtitles/text.ts';

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

  test('can keep tags that no player knows, because they may be placeholders', () => {
    expect(stripMarkup('<i>Hi</i> <x> <c.red>and</c> <v Bob>you <FONT color=red> </name>', 'player')).toBe(
      'Hi <x> and you </name>',
    );
  });

  test('of a megabyte of opening brackets takes linear, not quadratic time', () => {
    const tags = '<a '.repeat(350_000).trim();
    const overrides = '{\\'.repeat(500_000);
    expect(stripMarkup(tags) === tags).toBe(true);
    expect(stripMarkup(overrides) === overrides).toBe(true);
  });
});

describe('the words that a voice speaks', () => {
  test.each([
    ['[door slams]', ''],
    ['[door slams] Who is there?', 'Who is there?'],
    ['Wait! [DOOR SLAMS]\nWho is [whispers] there?', 'Wait! Who is there?'],
    ['- (laughs)\n- No!', '- No!'],
    ['(sighs) I know. (door closes)', 'I know.'],
    ['（笑）こんにちは', 'こんにちは'],
    ['♪ La la la ♪', ''],
    ['♪ La la la', ''],
    ['la la la ♪', ''],
    ['<i>♪♪ La la ♪♪</i>\nWhat is that?', 'What is that?'],
    ['🎵 La la 🎵 la 🎵', ''],
    ['♪ La ♪ he sang.', 'he sang.'],
  ])('%j, without songs and sounds, are %j', (text, spoken) => {
    expect(spokenText(text)).toBe(spoken);
  });

  test.each([
    'The WHO (World Health Organization) says so.',
    'It is late (or early).',
    'An open [ bracket, and an open ( one.',
    'He said "Go!" and went.',
  ])('%j keep brackets that belong to a sentence', (text) => {
    expect(spokenText(text)).toBe(text);
  });
});

test('a million rows are joined in linear time, with spaces where their scripts have them', () => {
  const rows = Array.from({ length: 1_000_000 }, () => 'a');
  expect(joinSpaced(rows).length).toBe(2 * rows.length - 1);
  expect(joinSpaced(['今天', '天气', 'a'])).toBe('今天天气 a');
});

test('words are letters or digits of any script', () => {
  expect(['♪ ♪', '…', '- -', ''].some(hasWords)).toBe(false);
  expect(['a', '7', 'да', '中'].every(hasWords)).toBe(true);
});
