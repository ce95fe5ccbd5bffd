import { describe, expect, test } from 'vitest';
import { readSubtitleFile } from '../../../src/media/subtitles/read.ts';
import { writeSubtitle } from '../../../src/media/subtitles/write.ts';

const read = async (text: string, name = 'a.txt') => readSubtitleFile(new TextEncoder().encode(text), name);
const brief = async (text: string) =>
  (await read(text)).map(({ start_ms, end_ms, text }) => [start_ms, end_ms, text]);

test('WebVTT is read without its styles, notes, speakers and settings', async () => {
  const vtt =
    'WEBVTT - title\n\nSTYLE\n::cue { color: red }\n\nNOTE a note\n\nid 1\n00:01.000 --> 00:02.500 align:start\n' +
    '<v Roger>Hello <i>there</i> &amp; <c.red>you</c>\nsecond row\n\n00:00:03.000 --> 00:00:04.000\n\n' +
    '01:00:05.000 --> 01:00:06.000\n1 &lt; 2';
  expect(await brief(vtt)).toEqual([
    [1000, 2500, 'Hello <i>there</i> & you\nsecond row'],
    [3_605_000, 3_606_000, '1 < 2'],
  ]);
});

test('ASS is read without instructions, comments and drawings, in order of time', async () => {
  const ass =
    '[Script Info]\nScriptType: v4.00+\n[V4+ Styles]\nStyle: Default,Arial,20\n[Events]\n' +
    'Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n' +
    'Dialogue: 0,0:00:05.00,0:00:06.00,Default,,0,0,0,,Later, {open\n' +
    'Comment: 0,0:00:03.00,0:00:04.00,Default,,0,0,0,,nothing\n' +
    'Dialogue: 0,0:00:07.00,0:00:08.00,Default,,0,0,0,,{\\p1}m 0 0 l 100 0{\\p0}\n' +
    'Dialogue: 0,0:00:01.00,0:00:02.50,Default,,0,0,0,,{\\i1\\pos(1,2)}Hello{\\i0}\\Nyou';
  expect(await brief(ass)).toEqual([
    [1000, 2500, 'Hello\nyou'],
    [5000, 6000, 'Later, \uFF5Bopen'],
  ]);
});

test.each(['srt', 'vtt', 'ass'] as const)('what is written as %s is read back', async (format) => {
  const lines = [
    { index: 1, start_ms: 1000, end_ms: 2500, text: 'Tom & Jerry: 1 < 2\nsecond row' },
    { index: 2, start_ms: 3_600_000, end_ms: 3_601_230, text: '你好' },
  ];
  expect(await read(writeSubtitle(lines, format))).toEqual(lines);
});

describe('a hostile or broken file is refused soon', () => {
  const ASS = '[Events]\n';
  const EVENT = 'Dialogue: 0,0:00:01.00,0:00:02.50,Default,,0,0,0,,';
  const CUE = '00:01.000 --> 00:02.000';
  const MANY = 1_000_000;
  test.each([
    ['line breaks', `WEBVTT\n\n${'\r'.repeat(MANY)}`],
    ['one long row', `WEBVTT\n\n${'a'.repeat(MANY)}`],
    ['spaces after times', `WEBVTT\n\n${`${CUE}${' '.repeat(19_000)}x\n\n`.repeat(50)}`],
    ['open braces', ASS + `${EVENT}${'{'.repeat(19_000)}\n`.repeat(50)],
    ['spaces in a section', `[Script Info]\n${`a${' '.repeat(19_000)}b: c\n`.repeat(50)}${ASS}`],
    ['more than 10 MiB', 'a'.repeat(10 * 1024 ** 2)],
    ['no cue', 'WEBVTT\n\n'],
  ])('%s', async (_, text) => {
    // Without bounds it would take minutes, which is more than a test may.
    await expect(read(text)).rejects.toMatchObject({ name: 'PreparationFailure', code: 'SUBTITLE_INVALID' });
  });

  test('not UTF-8', () => {
    const latin1 = Buffer.from('1\n00:00:01,000 --> 00:00:02,000\nma\u00f1ana\n', 'latin1');
    expect(() => readSubtitleFile(latin1, 'a.srt')).toThrow('a.srt: the file is not UTF-8');
  });
});

test('UTF-16 with its mark is read, as WebVTT and ASS from Windows come', () => {
  const text = '\uFEFFWEBVTT\n\n00:01.000 --> 00:02.000\nñ';
  expect(readSubtitleFile(Buffer.from(text, 'utf16le'), 'a.vtt')).toHaveLength(1);
});
