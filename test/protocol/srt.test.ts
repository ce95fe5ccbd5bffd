import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/protocol/limits.ts';
import {
  beginsLikeSrt,
  decodeSrt,
  formatSrt,
  formatTime,
  normalizeCueText,
  parseSrt,
  SubtitleError,
} from '../../src/protocol/srt.ts';

const HELLO = '1\n00:00:01,000 --> 00:00:02,500\nHello\n\n2\n00:00:03,000 --> 00:00:04,000\nWorld\n';
const HELLO_LINES = [
  { index: 1, start_ms: 1_000, end_ms: 2_500, text: 'Hello' },
  { index: 2, start_ms: 3_000, end_ms: 4_000, text: 'World' },
];

/** One cue from 1 s to 2 s. */
const cue = (text: string) => `1\n00:00:01,000 --> 00:00:02,000\n${text}\n`;
const textOf = (text: string) => parseSrt(cue(text)).map((line) => line.text);
const timesOf = (timing: string) =>
  parseSrt(`1\n${timing}\nx\n`).map(({ start_ms, end_ms }) => [start_ms, end_ms]);

function refusal(read: () => unknown): SubtitleError {
  try {
    read();
  } catch (error) {
    if (error instanceof SubtitleError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('SRT is read', () => {
  it('cue by cue', () => {
    expect(parseSrt(HELLO)).toEqual(HELLO_LINES);
  });

  it.each([
    ['with CRLF', HELLO.replaceAll('\n', '\r\n')],
    ['with only CR', HELLO.replaceAll('\n', '\r')],
    ['with every kind of line break mixed', HELLO.replace('\n', '\r\n').replace('000\nWorld', '000\rWorld')],
    ['with a byte order mark', `\uFEFF${HELLO}`],
    ['without the last line break', HELLO.trimEnd()],
    ['with many blank lines around', `\n\n \n${HELLO.replace('\n\n', '\n\n\t\n\n')}\n\n\n`],
    ['without numbers', HELLO.replace(/^\d\n/gm, '')],
    ['with wrong numbers', HELLO.replace(/^1\n/, '7\n').replace(/^2\n/m, '0\n')],
    ['with a dot before the milliseconds', HELLO.replaceAll(',', '.')],
    ['with coordinates after the times', HELLO.replaceAll(/(--> \S+)/g, '$1 X1:0 X2:9 Y1:0 Y2:9')],
    ['with blanks around the times', HELLO.replaceAll(' --> ', '\t-->   ').replaceAll(/^00/gm, '  00')],
    ['without blanks around the arrow', HELLO.replaceAll(' --> ', '-->')],
    ['with blanks around the number', HELLO.replace('1\n', ' 1 \n')],
    ['with blanks around the text', HELLO.replace('Hello', '  Hello\t')],
    ['without blank lines', HELLO.replace('\n\n', '\n')],
    ['without numbers and blank lines', HELLO.replace('\n\n2\n', '\n')],
    ['with a blank line between number and times', HELLO.replace('2\n', '2\n\n')],
  ])('%s', (_name, text) => {
    expect(parseSrt(text)).toEqual(HELLO_LINES);
  });

  it.each([
    ['01:02:03,004 --> 01:02:03,005', [3_723_004, 3_723_005]],
    ['0:0:1,5 --> 0:0:1,75', [1_500, 1_750]],
    ['99:59:59,999 --> 100:00:00,000', [359_999_999, 360_000_000]],
    ['123:00:00,000 --> 999:59:59,999', [442_800_000, 3_599_999_999]],
  ])('%s, in milliseconds', (timing, expected) => {
    expect(timesOf(timing)).toEqual([expected]);
  });

  it.each([
    ['CJK', '你好，世界'],
    ['emoji, also joined ones', '👍🏽 👨‍👩‍👧'],
    ['right-to-left text', 'مرحبا بالعالم'],
    ['tags', '<i>Hello</i> {\\an8}'],
    ['several rows', 'one\ntwo\nthree'],
    ['a number alone', '42'],
    ['a row of a number in the middle', 'one\n2\nthree'],
    ['an arrow of one dash', 'a -> b'],
    ['clock times', '10:30 -> 11:00'],
  ])('with %s', (_name, text) => {
    expect(textOf(text)).toEqual([text]);
  });

  it('with an arrow in the text, which it writes as a character', () => {
    expect(textOf('a --> b')).toEqual(['a → b']);
    expect(textOf('-->')).toEqual(['→']);
  });

  it('with blank lines in a text, and a number that belongs to it', () => {
    const [first, second] = parseSrt(`${cue('one\n\ntwo\n\n7\n')}\n2\n00:00:03,000 --> 00:00:04,000\nx`);
    expect([first?.text, second?.text]).toEqual(['one\ntwo\n7', 'x']);
  });

  it('without numbers, with rows of digits as text', () => {
    const times = (second: number) => `00:00:0${second},000 --> 00:00:0${second + 1},000`;
    const texts = (text: string) => parseSrt(text).map((line) => line.text);
    expect(texts(`${times(1)}\n2\n\n${times(3)}\n1\n`)).toEqual(['2', '1']);
    expect(texts(`${times(1)}\nHe paid\n2\n\n${times(3)}\nx\n`)).toEqual(['He paid\n2', 'x']);
    expect(texts(`${times(1)}\na\n\n2\n\n${times(3)}\nb\n`)).toEqual(['a', 'b']);
  });

  it('with cues that overlap, and out of order', () => {
    const overlapping = '1\n00:00:05,000 --> 00:00:09,000\na\n\n2\n00:00:01,000 --> 00:00:06,000\nb\n';
    expect(parseSrt(overlapping).map(({ start_ms }) => start_ms)).toEqual([5_000, 1_000]);
  });

  it('without its empty cues, numbered again', () => {
    const withEmpty = `1\n00:00:00,100 --> 00:00:00,200\n\n${HELLO}`;
    expect(parseSrt(withEmpty)).toEqual(HELLO_LINES);
  });

  it('up to the limit of lines, and no more', () => {
    const many = (count: number) => `${cue('x')}\n`.repeat(count);
    expect(parseSrt(many(10_000))).toHaveLength(10_000);
    const error = refusal(() => parseSrt(many(10_001)));
    expect(error.message).toContain('more than 10000 subtitle lines');
    expect(error.line).toBe(10_000 * 4 + 1);
  });

  it('up to the limit of characters in a cue, counted as people count', () => {
    const longest = '😀'.repeat(LIMITS.lineCharacters);
    expect(textOf(longest)).toEqual([longest]);
    expect(refusal(() => textOf(`${longest}x`)).message).toBe('row 1: the cue has more than 5000 characters');
    const rows = (count: number) => Array.from({ length: count }, () => 'x').join('\n');
    expect(textOf(rows(2_500))).toHaveLength(1);
    expect(refusal(() => textOf(rows(2_501))).message).toContain('5000 characters');
  });

  it('from UTF-8 bytes', () => {
    expect(decodeSrt(Buffer.from(`\uFEFF${cue('é 中 😀')}`)).map(({ text }) => text)).toEqual(['é 中 😀']);
  });
});

describe('SRT is refused', () => {
  it.each([
    ['', 0, 'the file has no subtitles'],
    ['\uFEFF', 0, 'the file has no subtitles'],
    [' \n\r\n', 0, 'the file has no subtitles'],
    ['1\n00:00:01,000 --> 00:00:02,000\n', 0, 'the file has no subtitles'],
    ['Hello', 1, 'expected a number and times such as'],
    ['1\nHello', 2, 'expected times such as 00:00:01,000 --> 00:00:02,500, found "Hello"'],
    ['\n\nOne\n00:00:01,000 --> 00:00:02,000\nx', 3, 'expected a number and times such as'],
    [`${HELLO}\n3\nno times\n`, 10, 'expected times such as'],
    [`${HELLO}\n3\n`, 9, 'expected times such as 00:00:01,000 --> 00:00:02,500, found "3"'],
    ['1\n00:00:01,000 --> \nx', 2, 'found "00:00:01,000 -->"'],
    ['1\n00:00:01 --> 00:00:02\nx', 2, 'found "00:00:01 --> 00:00:02"'],
    ['1\n00:00:01,000 –> 00:00:02,000\nx', 2, 'found "00:00:01,000 –> 00:00:02,000"'],
    [`${HELLO}\n3\n00:00:05,000 -> 00:00:06,000\nx`, 10, 'found "00:00:05,000 -> 00:00:06,000"'],
    ['1\n00:00:01,000 --> 00:75:02,000\nx', 2, 'minutes and seconds end at 59'],
    ['1\n00:00:61,000 --> 00:01:02,000\nx', 2, 'minutes and seconds end at 59'],
    ['1\n-00:00:01,000 --> 00:00:02,000\nx', 2, 'expected times'],
    ['1\n1000:00:00,000 --> 1000:00:01,000\nx', 2, 'expected times'],
    ['1\n00:00:02,000 --> 00:00:02,000\nx', 2, 'ends before it starts'],
    ['\r\n\r\n1\r\n00:00:02,000 --> 00:00:01,999\r\nx', 4, 'ends before it starts'],
    ['\r\r1\r00:00:02,000 --> 00:00:01,000\rx', 4, 'ends before it starts'],
    [HELLO.replace('\n\n2\n', '\n42\n'), 5, 'a blank line is missing before this cue'],
    ['WEBVTT\n\n00:01.000 --> 00:02.000\nx', 1, 'found "WEBVTT"'],
  ])('for %j, naming row %i', (text, row, message) => {
    const error = refusal(() => parseSrt(text));
    expect(error.line).toBe(row);
    expect(error.message).toContain(message);
    expect(error.message.startsWith(`row ${row}: `)).toBe(row > 0);
  });

  it.each([
    ['UTF-16', Buffer.from(`\uFEFF${HELLO}`, 'utf16le')],
    ['Latin-1', Buffer.from(cue('é'), 'latin1')],
    ['a file cut within a character', Buffer.from(cue('中')).subarray(0, -2)],
  ])('in %s, with advice', (_name, bytes) => {
    expect(refusal(() => decodeSrt(bytes)).message).toBe(
      'the file is not UTF-8; save it as UTF-8 and try again',
    );
  });

  it('without quoting more than the start of a long row', () => {
    expect(refusal(() => parseSrt('x'.repeat(1_000))).message.length).toBeLessThan(200);
  });
});

describe('SRT is written', () => {
  it('with one blank line after each cue', () => {
    expect(formatSrt(HELLO_LINES)).toBe(`${HELLO}\n`);
    expect(formatSrt([])).toBe('');
  });

  it('with numbers counted from 1, whatever the lines have', () => {
    const [first] = HELLO_LINES;
    expect(formatSrt([{ ...first, index: 77, start_ms: 0, end_ms: 1, text: 'a\r\n\r\n b --> c ' }])).toBe(
      '1\n00:00:00,000 --> 00:00:00,001\na\nb → c\n\n',
    );
  });

  it.each([
    [0, '00:00:00,000'],
    [7, '00:00:00,007'],
    [999, '00:00:00,999'],
    [59_999, '00:00:59,999'],
    [60_000, '00:01:00,000'],
    [3_599_999, '00:59:59,999'],
    [3_600_000, '01:00:00,000'],
    [359_999_999, '99:59:59,999'],
    [360_000_000, '100:00:00,000'],
  ])('with %i ms as %s', (milliseconds, expected) => {
    expect(formatTime(milliseconds)).toBe(expected);
  });
});

describe('the text of a cue', () => {
  it.each([
    ['a\r\nb\rc\nd', 'a\nb\nc\nd'],
    ['\n\na\n \t\nb\n', 'a\nb'],
    ['  a  ', 'a'],
    ['a --> b --> c', 'a → b → c'],
    ['----->', '---→'],
    [' \n ', ''],
    ['a - > b', 'a - > b'],
  ])('%j becomes %j', (text, expected) => {
    expect(normalizeCueText(text)).toBe(expected);
  });
});

describe('a text', () => {
  const times = '00:00:01,000 --> 00:00:02,000';

  it.each([
    ['a number and times', `1\n${times}\nhello`],
    ['times without a number', `${times}\nhello`],
    ['a number of several digits between blanks', ` \t120 \t\n${times}`],
    ['blank lines and a byte order mark', `\uFEFF\n \n1\r\n${times}\r\n`],
    ['times after which it was cut', `7\n${times}`],
    ['a blank line between number and times', `1\n\n${times}`],
  ])('that begins with %s begins like SRT', (_what, text) => {
    expect(beginsLikeSrt(text)).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['blank lines', '\n\n'],
    ['a page', '<!doctype html>\n<title>1</title>'],
    ['a number alone', '1'],
    ['a number and words', '1\nhello\n'],
    ['a number with a letter before it', `a1\n${times}`],
    ['a number with a letter after it', `1a\n${times}`],
    ['words and times', `hello\n${times}`],
    ['times in the third row', `1\nhello\n${times}`],
  ])('that begins with %s does not', (_what, text) => {
    expect(beginsLikeSrt(text)).toBe(false);
  });
});
