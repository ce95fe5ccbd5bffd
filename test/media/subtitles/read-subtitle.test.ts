import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readSubtitleFile } from '../../../src/media/subtitles/read-subtitle.ts';
import { stripMarkup } from '../../../src/media/subtitles/text.ts';
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

test('ASS is read with its italics, without other instructions, comments and drawings, in order of time', async () => {
  const ass =
    '[Script Info]\nScriptType: v4.00+\n[V4+ Styles]\nStyle: Default,Arial,20\n[Events]\n' +
    'Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n' +
    'Dialogue: 0,0:00:05.00,0:00:06.00,Default,,0,0,0,,Later, {open\n' +
    'Comment: 0,0:00:03.00,0:00:04.00,Default,,0,0,0,,nothing\n' +
    'Dialogue: 0,0:00:07.00,0:00:08.00,Default,,0,0,0,,{\\p1}m 0 0 l 100 0{\\p0}\n' +
    'Dialogue: 0,0:00:01.00,0:00:02.50,Default,,0,0,0,,{\\i1\\pos(1,2)}Hello{\\i0}\\Nyou';
  expect(await brief(ass)).toEqual([
    [1000, 2500, '<i>Hello</i>\nyou'],
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
  const MANY = 300_000;
  test.each([
    ['line breaks', `WEBVTT\n\n${'\r'.repeat(MANY)}`],
    ['one long row', `WEBVTT\n\n${'a'.repeat(MANY)}`],
    ['spaces after times', `WEBVTT\n\n${`${CUE}${' '.repeat(19_000)}x\n\n`.repeat(50)}`],
    ['open braces', ASS + `${EVENT}${'{'.repeat(19_000)}\n`.repeat(50)],
    ['spaces in a section', `[Script Info]\n${`a${' '.repeat(19_000)}b: c\n`.repeat(50)}${ASS}`],
    ['beginnings of tags', `WEBVTT\n\n${CUE}\n${'<a '.repeat(MANY / 3)}!x`],
    [
      'rows that repeat',
      `WEBVTT\n\n${CUE}\n${'a\n'.repeat(MANY / 4)}b\n\n${CUE}\n${'a\n'.repeat(MANY / 4)}c`,
    ],
    [
      'open brackets',
      ASS + `${EVENT}{\\pos(${'a'.repeat(19_000)}}x{\\b1}y\n`.repeat(50) + EVENT.replaceAll('0:', ''),
    ],
    ['columns', `${ASS}Format: ${','.repeat(19_000)}\n${'Dialogue:\n'.repeat(MANY / 10)}`],
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

/** What a viewer reads in a file of test/fixtures/cases, or why it is refused. */
function readCase(name: string): unknown {
  try {
    return readSubtitleFile(readFileSync(new URL(`../../fixtures/cases/${name}`, import.meta.url)), name).map(
      ({ text }) => text,
    );
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}

const SRT_TIMES = 'expected times such as 00:00:01,000 --> 00:00:02,500, found';

test.each([
  ['space-row.en.vtt', ['Good morning\neverybody.', 'See you later.']],
  ['settings-nospace.en.vtt', ['Hello there', 'This cue is lost', 'Goodbye now']],
  ['drawing.en.srt', ['{\\an8}Hello there.']],
  ['no-blank-rows.en.srt', ['Hello there.', 'Good night.', 'Bye.']],
  ['tags-only.en.srt', ['Hello']],
  ['events-row.en.srt', ['Hello', '[Events]']],
  ['half-tags.en.srt', expect.arrayContaining(['First row\nsecond row\nthird row.'])],
])('the text of %s is read whole', (name, texts) => {
  expect(readCase(name)).toEqual(texts);
});

test.each([
  ['reversed.en.vtt', 'row 6: the cue ends before it starts'],
  ['dash-arrow.en.srt', `row 2: ${SRT_TIMES} "00:00:01,000 –> 00:00:03,000"`],
  ['row-number.en.srt', `row 6: ${SRT_TIMES} "00:00:03 --> 00:00:04"`],
  ['minute75.en.srt', 'row 2: minutes and seconds end at 59, found "00:00:01,000 --> 00:75:02,000"'],
  [
    'arrow-in-text.en.vtt',
    'row 5: expected times such as 00:01.000 --> 00:02.500, found "00:0x.000 --> 00:04.000"',
  ],
  ['ass-losses.en.ass', 'row 8: expected times such as 0:00:01.00,0:00:02.50, found "0:00:0x.00,0:00:06.00"'],
  [
    'microdvd.en.srt',
    'the file is MicroDVD, which vloc does not read; convert it to SRT with Subtitle Edit or ' +
      '`ffmpeg -i microdvd.en.srt converted.srt`',
  ],
])('%s is refused with the row and its text', (name, message) => {
  expect(readCase(name)).toBe(`${name}: ${message}`);
});

const ASS_HEAD =
  '[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n';
const event = (times: string, text: string) => `Dialogue: 0,${times},Default,,0,0,0,,${text}\n`;

test('an ASS row that begins before 0 begins at 0, and text in escaped braces or behind a drawing is text', async () => {
  const ass =
    event('-0:00:00.50,0:00:02.00', 'from the start') +
    event('0:00:03.00,0:00:04.00', 'a \\{kept\\} b') +
    event('0:00:07.00,0:00:08.00', '{\\p1\\p0}after');
  expect(await brief(ASS_HEAD + ass)).toEqual([
    [0, 2000, 'from the start'],
    [3000, 4000, 'a {kept} b'],
    [7000, 8000, 'after'],
  ]);
});

test.each([
  ['MPL2', '[10][30]One\n'],
  ['LRC', '[ar:Someone]\n[00:12.00]One\n'],
  ['SubViewer', '00:00:01.00,00:00:02.00\nOne\n'],
  ['SAMI', '<SAMI>\n<BODY><SYNC Start=1><P>One'],
  ['TTML', '<?xml version="1.0"?>\n<tt xmlns="http://www.w3.org/ns/ttml"><body/></tt>'],
  ['SCC', 'Scenarist_SCC V1.0\n\n00:00:00:00 9420\n'],
])('%s is named, with what converts it', async (format, text) => {
  await expect(read(text)).rejects.toThrow(
    `the file is ${format}, which vloc does not read; convert it to SRT`,
  );
});

test.each([
  ['a tag that hides words', 'a <c It is blue', '"<c It is blue"'],
  ['words without times', 'a\n\nstray words', '"stray words"'],
  ['seconds over 59', 'a\n\n00:61.000 --> 00:62.000\nb', 'minutes and seconds end at 59'],
])('WebVTT with %s is refused, and never read without them', async (_, text, found) => {
  await expect(read(`WEBVTT\n\n00:01.000 --> 00:02.000\n${text}`)).rejects.toThrow(found);
});

test('references of HTML are decoded, but for those that would become tags, which a viewer still reads', async () => {
  const text = 'caf&eacute; &#8364;5 &#x2026; &lt;b&gt;&amp;lt;';
  const [line] = await read(`1\n00:00:01,000 --> 00:00:02,000\n${text}\n`);
  expect(line?.text).toBe('café €5 … &lt;b>&amp;lt;');
  expect(stripMarkup(line?.text ?? '')).toBe('café €5 … <b>&lt;');
});

test('rolling captions need a row that moves up: cues that repeat each other stay', async () => {
  const cue = (from: number, text: string) => `00:0${from}.000 --> 00:0${from + 1}.000\n${text}\n\n`;
  expect(await read(`WEBVTT\n\n${cue(1, 'No!')}${cue(2, 'No!')}${cue(3, 'No!')}`)).toHaveLength(3);
  const rolling = `WEBVTT\n\n${cue(1, 'a')}${cue(2, 'a\nb')}${cue(3, 'b\nc')}${cue(6, 'c\nd')}`;
  expect(await brief(rolling)).toEqual([
    [1000, 2000, 'a'],
    [2000, 3000, 'b'],
    [3000, 4000, 'c'],
    [6000, 7000, 'c'],
    [6000, 7000, 'd'],
  ]);
});
