import { expect, test } from 'vitest';
import { readCues, scanText, textInside, wordLines } from '../../../src/media/subtitles/read-subtitle.ts';
import { replaceCueWords, writeLike } from '../../../src/media/subtitles/write-like.ts';

const CUES = [
  ['00:01.000 --> 00:02.000', 'a voice'],
  ['00:01.000 --> 00:03.000 line:0', 'a sign'],
  ['00:04.000 --> 00:05.000', 'a voice'],
] as const;
const vtt = (texts: readonly string[]) =>
  `WEBVTT\n\n${CUES.map(([times], at) => `${times}\n${texts[at]}\n\n`).join('')}`;

test('a translation of cues that begin together stays with its cue if the other one is missing', () => {
  const file = readCues(Buffer.from(vtt(CUES.map(([, text]) => text))), 'a.vtt');
  const lines = wordLines(file).map((line) => ({ ...line, text: line.text.toUpperCase() }));
  expect(writeLike(file, lines.slice(1))).toBe(vtt(['', 'A SIGN', 'A VOICE']));
  expect(writeLike(file, lines.toSpliced(1, 1))).toBe(vtt(['A VOICE', '', 'A VOICE']));
});

test('other words of a cue change only these, also in a cue without text and in one with a speaker and a tag', () => {
  const text =
    'WEBVTT\r\n\r\nNOTE kept\r\n\r\n1\r\n00:01.000 --> 00:02.000 line:0\r\n<v Anna><i>one</i>\r\n\r\n00:03.000 --> 00:04.000\r\n\r\n00:05.000 --> 00:06.000';
  const scanned = scanText(Buffer.from(text), 'a.vtt');
  expect(scanned.cues.map((cue) => textInside(cue, 'vtt'))).toEqual(['one', '', '']);
  expect(
    replaceCueWords(
      scanned,
      new Map([
        [1, 'one'],
        [2, ''],
      ]),
    ),
  ).toEqual({ text, changed: [] });
  const words = new Map([
    [1, 'two\nrows'],
    [2, 'said & done'],
    [3, 'end'],
  ]);
  expect(replaceCueWords(scanned, words)).toEqual({
    text: text
      .replace('one', 'two\r\nrows')
      .replace('00:04.000\r\n', '00:04.000\r\nsaid &amp; done\r\n')
      .concat('\r\nend\r\n'),
    changed: [1, 2, 3],
  });
});

test('words that would be read as a cue of their own are named by their cue', () => {
  const scanned = scanText(
    Buffer.from('1\n00:00:01,000 --> 00:00:02,000\na\n\n2\n00:00:03,000 --> 00:00:04,000\nb\n'),
    'a.srt',
  );
  const words = new Map([
    [1, 'x'],
    [2, 'y\n3\n00:00:05,000 -> 00:00:06,000'],
  ]);
  expect(replaceCueWords(scanned, words)).toEqual({ unfit: 2 });
});
