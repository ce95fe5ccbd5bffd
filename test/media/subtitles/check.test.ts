import { expect, test } from 'vitest';
import { checkSubtitle, inspectSubtitle } from '../../../src/media/subtitles/check.ts';
import { scanCues } from '../../../src/media/subtitles/read-subtitle.ts';
import { builtInStyle, chooseLimits, spokenLimits } from '../../../src/media/subtitles/style.ts';
import { formatTime } from '../../../src/protocol/srt.ts';

const cue = (number: number, from: string, to: string, text: string) =>
  `${number}\r\n00:00:${from} --> 00:00:${to}\r\n${text}\r\n\r\n`;
const check = (srt: string, videoMs: number | null = null, limits = spokenLimits(null, srt)) =>
  checkSubtitle(scanCues(srt, 'srt').cues, {
    limits,
    videoMs,
    shotsMs: [],
    isSpoken: true,
  });

test('a finding says row, time, what is wrong and what to do', () => {
  const srt = cue(1, '01,000', '03,500', 'One.') + cue(2, '03,000', '05,000', 'Two.');
  expect(check(`\uFEFF${srt}`)).toEqual([
    {
      code: 'OVERLAP',
      severity: 'warning',
      row: 6,
      cue: 2,
      time: '00:00:03,000',
      message: 'it begins 500 ms before cue 1 ends',
      advice: 'end cue 1 at 00:00:03,000',
    },
  ]);
});

test.each([
  { gap: 0, advice: 'end cue 1 2 frames earlier' },
  { gap: 40, advice: 'end cue 1 1 frame earlier' },
  { gap: 59, advice: 'end cue 1 1 frame earlier' },
  { gap: 80, advice: undefined },
])('between cues $gap ms apart, the advice is what is missing of two frames: $advice', ({ gap, advice }) => {
  const found = (end: number) => {
    const srt = cue(1, '01,000', formatTime(end).slice(6), 'One.') + cue(2, '03,000', '05,000', 'Two.');
    const limits = chooseLimits(builtInStyle('netflix'), 'en', srt, 25);
    return checkSubtitle(scanCues(srt, 'srt').cues, { limits, videoMs: null, shotsMs: [], isSpoken: false });
  };
  const before = found(3000 - gap).find(({ code }) => code === 'GAP');
  expect(before?.advice).toBe(advice);
  const frames = Number(/cue 1 (\d)/.exec(advice ?? '')?.[1] ?? 0);
  expect(found(3000 - gap - frames * 40).map(({ code }) => code)).not.toContain('GAP');
});

test('a cue that is shown for as long as the advice says is no longer too fast', () => {
  for (const letters of [30, 41, 52, 63, 74]) {
    const fast = (lasts: number) =>
      check(cue(1, '00,000', formatTime(lasts).slice(6), 'x'.repeat(letters))).find(
        ({ code }) => code === 'TOO_FAST',
      );
    const seconds = Number(/show it for ([\d.]+) s$/.exec(fast(1000)?.advice ?? '')?.[1]);
    expect(seconds).toBeGreaterThan(1);
    expect(fast(seconds * 1000)).toBeUndefined();
  }
});

test('an overlap is found with every cue that is still shown, not only with the previous one', () => {
  const srt =
    cue(1, '00,000', '06,000', 'One.') +
    cue(2, '01,000', '02,000', 'Two.') +
    cue(3, '03,000', '05,000', 'Three.');
  expect(check(srt).map(({ code, cue, message }) => [code, cue, message])).toEqual([
    ['OVERLAP', 2, 'it begins 5000 ms before cue 1 ends'],
    ['OVERLAP', 3, 'it begins 3000 ms before cue 1 ends'],
  ]);
});

test('the advice for an overlap keeps the gap between cues, and joins cues that would end before they begin', () => {
  const limits = { ...spokenLimits(null, ''), gapFrames: 2, frameMs: 40 };
  const advised = (first: string, ...times: [string, string]) =>
    check(cue(1, first, '03,500', 'One.') + cue(2, ...times, 'Two.'), null, limits).map(
      ({ code, advice }) => [code, advice],
    );
  expect(advised('01,000', '03,000', '05,000')).toEqual([['OVERLAP', 'end cue 1 at 00:00:02,920']]);
  const ended = cue(1, '01,000', '02,920', 'One.') + cue(2, '03,000', '05,000', 'Two.');
  expect(check(ended, null, limits)).toEqual([]);
  for (const start of ['01,000', '01,050'])
    expect(advised('01,000', start, '05,000')).toEqual([['OVERLAP', 'join it with cue 1']]);
});

test('cues out of order overlap by their times, not by their order', () => {
  const codes = (srt: string) => check(srt).map(({ code, cue }) => [code, cue]);
  const late = cue(1, '05,000', '06,000', 'Late.');
  expect(codes(late + cue(2, '01,000', '02,000', 'Two.') + cue(3, '03,000', '04,000', 'Three.'))).toEqual([
    ['OUT_OF_ORDER', 2],
  ]);
  expect(codes(late + cue(2, '03,000', '05,500', 'Two.'))).toEqual([
    ['OVERLAP', 1],
    ['OUT_OF_ORDER', 2],
  ]);
});

test('cues after the end of a video of known length are reported with that length', () => {
  const ends = (from: string, to: string, videoMs: number | null) =>
    check(cue(1, from, to, 'Here.'), videoMs).map(({ code, severity, message }) => [
      ...[code, severity, message],
    ]);
  expect(ends('20,000', '22,000', 10_080)).toEqual([
    ['PAST_END', 'warning', 'it begins at 00:00:20,000, and the video lasts 00:00:10,080'],
  ]);
  expect(ends('10,080', '11,000', 10_080)).toEqual([
    ['PAST_END', 'warning', 'it begins at 00:00:10,080, and the video lasts 00:00:10,080'],
  ]);
  expect(ends('09,000', '12,000', 10_080)).toEqual([
    ['PAST_END', 'warning', 'it ends at 00:00:12,000, and the video lasts 00:00:10,080'],
  ]);
  expect(ends('09,000', '11,080', 10_080)).toEqual([]);
  expect(ends('20,000', '22,000', null)).toEqual([]);
});

test('many cues after the end of the video are reported once, so that they do not hide other findings', () => {
  const cues = ['11', '13', '15'].map((second, at) => cue(at + 1, `${second},000`, `${second},900`, 'Here.'));
  const findings = check(cues.join(''), 10_080);
  expect(findings.map(({ cue, message }) => [cue, message])).toEqual([
    [1, 'it begins at 00:00:11,000, and the video lasts 00:00:10,080 (2 more cues begin after its end)'],
  ]);
});

test.each([
  ['ENDS_BEFORE_START', 'error', cue(1, '03,000', '02,000', 'No.')],
  ['OUT_OF_ORDER', 'warning', cue(1, '05,000', '06,000', 'Late.') + cue(2, '01,000', '02,000', 'Early.')],
  ['EMPTY', 'warning', cue(1, '01,000', '02,000', '')],
  ['NO_WORDS', 'warning', cue(1, '01,000', '02,000', '♪♪')],
  ['TOO_LONG_TEXT', 'error', cue(1, '01,000', '07,000', 'word '.repeat(1001))],
  ['MARKUP', 'warning', cue(1, '01,000', '03,000', '{\\an8}<i>Here</i>')],
  ['TOO_SHORT', 'warning', cue(1, '01,000', '01,832', 'Oh.')],
  ['TOO_LONG', 'warning', cue(1, '01,000', '08,001', 'Slow.')],
  ['TOO_FAST', 'warning', cue(1, '01,000', '02,000', 'eighteen letters !')],
  ['NO_CUES', 'error', 'no times at all'],
])('finds %s, an %s', (code, severity, srt) => {
  expect(check(srt)).toContainEqual(expect.objectContaining({ code, severity }));
});

test('each script has its own reading speed', () => {
  const speeds = (text: string) => check(cue(1, '01,000', '02,000', text)).map(({ message }) => message);
  expect(speeds('seventeen letters')).toEqual([]);
  expect(speeds('今天天气很好我们走')).toEqual([]);
  expect(speeds('今天天气很好，我们走吧')).toEqual(['reading speed is 11.0 characters/s (limit 9)']);
  expect(speeds('これは速い')).toEqual(['reading speed is 5.0 characters/s (limit 4)']);
  expect(speeds('오늘 날씨가 좋네요')).toEqual([]);
});

test('a number in the text is not a cue number, and a file without blank rows is read', () => {
  const { cues } = scanCues(
    '1\n00:00:01,000 --> 00:00:02,000\n42\n\n2\n00:00:03,000 --> 00:00:04,000\nTwo\n7',
    'srt',
  );
  expect(cues.map(({ row, text }) => [row, text])).toEqual([
    [2, '42'],
    [6, 'Two\n7'],
  ]);
});

test('a file with errors yields no lines, and an ASS file is checked in the order of its times', () => {
  const broken = inspectSubtitle(Buffer.from(cue(1, '05,000', '04,000', 'x')), 'talk.srt');
  expect(broken).toMatchObject({ lines: null, findings: [{ code: 'ENDS_BEFORE_START', row: 2 }] });
  const event = (times: string, text: string) => `Dialogue: 0,${times},Default,,0,0,0,,${text}\n`;
  const ass = `[Events]\n${event('0:00:05.00,0:00:07.00', '{\\i1}Later')}${event('0:00:01.00,0:00:01.20', 'a')}`;
  const { lines, findings } = inspectSubtitle(Buffer.from(ass), 'talk.ass');
  expect(lines?.map(({ start_ms }) => start_ms)).toEqual([1000, 5000]);
  expect(findings.map(({ code, row }) => [code, row])).toEqual([
    ['TOO_SHORT', 3],
    ['MARKUP', 2],
  ]);
});

test('a WebVTT file with a cue of more rows than a call may have arguments is checked', () => {
  const vtt = `WEBVTT\n\n00:01.000 --> 00:02.000\n${'a\n'.repeat(130_000)}`;
  const { findings } = inspectSubtitle(Buffer.from(vtt), 'talk.vtt');
  expect(findings.map(({ code }) => code)).toEqual(['TOO_FAST', 'TOO_LONG_TEXT']);
});
