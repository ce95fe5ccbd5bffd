import { readFileSync } from 'node:fs';
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

/** What is written of words in capitals, and how many lines there are. */
function inCapitals(bytes: Buffer, name: string) {
  const file = readCues(bytes, name);
  const lines = wordLines(file).map((line) => ({ ...line, text: line.text.toUpperCase() }));
  return { lines: lines.length, text: writeLike(file, lines) };
}

test.each<[string, number, Readonly<Record<string, string>>]>([
  [
    'settings.en.vtt',
    2,
    {
      '<i>Good</i> morning.': '<i>GOOD</i> MORNING.',
      'Look at the &quot;sign&quot;&hellip;': 'LOOK AT THE "SIGN"…',
    },
  ],
  [
    'sign.en.ass',
    3,
    {
      'Good morning.': 'GOOD MORNING.',
      EXIT: 'EXIT',
      '{\\i1}See{\\i0} you later.': '{\\i1}SEE{\\i0} YOU LATER.',
    },
  ],
  ['drawing.en.srt', 1, { 'Hello there.': 'HELLO THERE.' }],
  ['tags-only.en.srt', 1, { Hello: 'HELLO' }],
  [
    'font.en.srt',
    3,
    {
      'Hello my friend.': 'HELLO MY FRIEND.',
      'Good <i>night</i>': 'GOOD <I>NIGHT</I>',
      'H<sub>2</sub>O &amp; more': 'H<SUB>2</SUB>O & MORE',
    },
  ],
])('everything but the words of %s stays, of which %i lines are translated', (name, lines, words) => {
  const bytes = readFileSync(new URL(`../../fixtures/cases/${name}`, import.meta.url));
  const text = Object.entries(words).reduce((all, [from, to]) => all.replace(from, to), bytes.toString());
  expect(inCapitals(bytes, name)).toEqual({ lines, text });
});

test.each([
  [
    'the line breaks of Windows',
    'srt',
    '5\r\n00:00:01,000 --> 00:00:02.5 X1:1 X2:9 Y1:1 Y2:9\r\nGood\r\nmorning\r\n\r\n\r\n',
  ],
  ['rows in italics', 'srt', '1\n00:00:01,000 --> 00:00:02,000\n<i>Good</i>\n<i>morning</i>'],
  ['rows at the top', 'srt', '1\n00:00:01,000 --> 00:00:02,000\n{\\an8}Good\n{\\an8}morning'],
  [
    'speakers in italics',
    'vtt',
    'WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ana><i>Good</i>\n<v Bob><i>morning</i>',
  ],
  [
    'a colour around italics',
    'ass',
    '[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,Sign,,0,0,0,,{note}{\\c&H00FFFF&\\fs40\\t(0,9,\\fs(4))}Good {\\i1}morning{\\i0}',
  ],
  [
    'a size and a place before italics',
    'ass',
    '[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,Sign,,0,0,0,,{\\fs40}{\\an8}Good {\\i1}morning{\\i0}',
  ],
])('everything but the words stays of %s', (_, format, text) => {
  expect(inCapitals(Buffer.from(text), `talk.en.${format}`).text).toBe(
    text.replaceAll(/(?<!\p{L})(?:good|morning)/giu, (word) => word.toUpperCase()),
  );
});
