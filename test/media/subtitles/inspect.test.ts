import { expect, test } from 'vitest';
import { inspectSubtitle } from '../../../src/media/subtitles/check.ts';

const inspect = (text: string, name: string) => inspectSubtitle(Buffer.from(text), name);
const places = async (text: string, name: string) =>
  inspect(text, name).findings.map(({ code, row, time }) => [code, row, time]);

const VTT = [
  ...['WEBVTT - a talk', '', 'NOTE', 'not a cue', '', 'intro', '00:01.000 --> 00:03.000 align:start'],
  ...['<v Ana>Good &amp; early', '', '00:02.500 --> 00:02.700', 'Again', ''],
].join('\n');

const ASS = [
  ...['[Script Info]', 'ScriptType: v4.00+', '', '[V4+ Styles]', 'Format: Name', 'Style: Default', ''],
  ...['[Events]', 'Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text'],
  'Dialogue: 0,0:00:05.00,0:00:07.00,Default,,0,0,0,,Later, with {\\i1}a comma{\\i0}',
  'Dialogue: 0,0:00:01.00,0:00:01.20,Default,,0,0,0,,{\\p1}m 0 0 l 9 9{\\p0}Sooner\\Nand shorter',
].join('\n');

test('a WebVTT file is read with its findings at their rows', async () => {
  const { lines } = inspect(VTT, 'talk.vtt');
  expect(lines?.map(({ text, start_ms }) => [text, start_ms])).toEqual([
    ['Good & early', 1000],
    ['Again', 2500],
  ]);
  expect(await places(VTT, 'talk.vtt')).toEqual([
    ['TOO_SHORT', 10, '00:00:02,500'],
    ['OVERLAP', 10, '00:00:02,500'],
  ]);
});

test('a WebVTT file with a cue of more rows than a call may have arguments is checked', () => {
  const { findings } = inspect(`WEBVTT\n\n00:01.000 --> 00:02.000\n${'a\n'.repeat(130_000)}`, 'talk.vtt');
  expect(findings.map(({ code }) => code)).toEqual(['TOO_FAST', 'TOO_LONG_TEXT']);
});

test('the dialogue of an ASS file is checked in the order of its times, without drawings and instructions', async () => {
  const { lines } = inspect(ASS, 'talk.ass');
  expect(lines?.map(({ text }) => text)).toEqual(['Sooner\nand shorter', 'Later, with <i>a comma</i>']);
  expect(await places(ASS, 'talk.ass')).toEqual([
    ['TOO_SHORT', 11, '00:00:01,000'],
    ['TOO_FAST', 11, '00:00:01,000'],
    ['MARKUP', 10, '00:00:05,000'],
  ]);
});

test.each([
  ['a cue that ends before it begins', '1\n00:00:05,000 --> 00:00:04,000\nx\n', 'ENDS_BEFORE_START', 2],
  ['no subtitle at all', 'a letter\nto somebody\n', 'UNREADABLE', 1],
  ['nothing', '', 'UNREADABLE', null],
])('%s is an error with its row, and yields no lines', async (_what, text, code, row) => {
  const { lines, findings } = inspect(text, 'talk.srt');
  expect(lines).toBeNull();
  expect(findings.filter(({ severity }) => severity === 'error')).toMatchObject([{ code, row }]);
});

test('binary data is an error and does not crash', () => {
  const { lines, findings } = inspectSubtitle(Buffer.from([0xc3, 0x28, 0xff]), 'talk.srt');
  expect(lines).toBeNull();
  expect(findings).toMatchObject([{ code: 'UNREADABLE', severity: 'error' }]);
});

test('the language decides how fast a text may be', () => {
  const srt = Buffer.from('1\n00:00:01,000 --> 00:00:02,000\nNineteen characters\n');
  const codes = (language: string | null) =>
    inspectSubtitle(srt, 'talk.srt', null, language).findings.map(({ code }) => code);
  expect([codes('en'), codes('es'), codes(null)]).toEqual([[], ['TOO_FAST'], ['TOO_FAST']]);
});
