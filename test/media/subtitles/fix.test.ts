import { expect, test } from 'vitest';
import { fixSubtitle } from '../../../src/media/subtitles/fix.ts';
import { builtInStyle, chooseLimits, type StyleName } from '../../../src/media/subtitles/style.ts';

function fix(
  text: string,
  options: { language?: string; style?: StyleName; shotsMs?: number[]; name?: string } = {},
) {
  const { language = 'en', style = 'netflix', shotsMs = [], name = 'talk.srt' } = options;
  const limits = chooseLimits(builtInStyle(style), language, text);
  const standard = { limits, videoMs: null, shotsMs, isSpoken: false };
  return Buffer.from(fixSubtitle(Buffer.from(text), name, () => standard).bytes).toString('utf8');
}
const cue = (from: string, to: string, text: string) => `1\n00:00:${from} --> 00:00:${to}\n${text}\n\n`;
const wrapped = (text: string, options = {}) =>
  fix(cue('00,000', '06,000', text), options)
    .split('\n')
    .slice(2, -2);

test('a long row is broken where it is even, and tags stay at their words', () => {
  expect(wrapped('<i>One row that has</i> <b>more than forty-two</b> columns')).toEqual([
    '<i>One row that has</i> <b>more',
    'than forty-two</b> columns',
  ]);
});

test('three rows become two, and speakers keep their rows', () => {
  expect(wrapped('Three rows\nthat could\nbe two of them')).toEqual(['Three rows that could be two of them']);
  expect(wrapped('- Who is there?\n- It is me, of course, and all of my many friends')).toEqual([
    '- Who is there?',
    '- It is me, of course, and all of my many friends',
  ]);
});

test('Japanese is broken between words, and keeps no space that it does not have', () => {
  const rows = wrapped('これはとても長い字幕なので二行に分けます', { language: 'ja', style: 'netflix-sdh' });
  expect(rows).toHaveLength(2);
  expect(rows.join('')).toBe('これはとても長い字幕なので二行に分けます');
});

test('a cue begins with the shot that it almost begins with, and the one before ends two frames earlier', () => {
  const text = cue('01,000', '03,950', 'Before.') + cue('04,040', '06,000', 'After.');
  expect(fix(text, { shotsMs: [4_000] })).toBe(
    cue('01,000', '03,917', 'Before.') + cue('04,000', '06,000', 'After.'),
  );
});

test('thousands of cues, and one cue of two hundred thousand words, take seconds', () => {
  const clock = (ms: number) => new Date(ms).toISOString().slice(11, 23).replace('.', ',');
  const cues = Array.from({ length: 1_000 }, (_, at) => {
    const start = at * 1500;
    return `${clock(start)} --> ${clock(start + (at % 7 === 0 ? 1700 : 900))}\nSome words that are said here, and a few more\n`;
  });
  const around = `00:00:00,000 --> 23:59:59,000\nx\n\n`;
  expect(fix(around + cues.join('\n'))).not.toBe(around + cues.join('\n'));
  const words = cue('00,000', '01,000', 'word '.repeat(200_000));
  expect(fix(words)).toHaveLength(words.length);
});

test('blank rows that are missing between cues are added, and those within a cue removed', () => {
  const tight =
    '1\r\n00:00:01,000 --> 00:00:03,000\r\nHello.\r\n2\r\n00:00:04,000 --> 00:00:06,000\r\nBye.\r\n';
  expect(fix(tight)).toBe(tight.replace('\r\n2\r\n', '\r\n\r\n2\r\n'));
  expect(fix(cue('01,000', '03,000', 'Hello\n\nthere.'))).toBe(cue('01,000', '03,000', 'Hello\nthere.'));
});

test('a cue that ends before it begins gets times where its neighbours leave room', () => {
  const head = 'WEBVTT\n\n00:00:01.000 --> 00:00:03.000\nGood morning.\n\n';
  const tail = '\n\n00:00:08.000 --> 00:00:10.000\nSee you later.\n';
  const middle = (times: string) => `${head}${times} align:start\nBackwards.${tail}`;
  const options = { name: 'talk.vtt' };
  expect(fix(middle('00:00:06.000 --> 00:00:04.000'), options)).toBe(middle('00:00:04.000 --> 00:00:06.000'));
  expect(fix(middle('00:00:06.000 --> 00:00:06.000'), options)).toBe(middle('00:00:06.000 --> 00:00:06.833'));
  const crowded = middle('00:00:07.900 --> 00:00:07.900');
  expect(fix(crowded, options)).toBe(crowded);
});
