import { expect, test } from 'vitest';
import { readCues, wordLines } from '../../../src/media/subtitles/read-subtitle.ts';
import { writeLike } from '../../../src/media/subtitles/write-like.ts';

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
