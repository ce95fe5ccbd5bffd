import { expect, test } from 'vitest';
import { writeSubtitle } from '../../../src/media/subtitles/write.ts';

const LINES = [{ index: 7, start_ms: 1000, end_ms: 3_723_450, text: 'R&D <b>x</b> < y\n{\\an8}second' }];

test.each([
  ['srt', '1\n00:00:01,000 --> 01:02:03,450\nR&D <b>x</b> < y\n{\\an8}second\n\n'],
  ['vtt', 'WEBVTT\n\n1\n00:00:01.000 --> 01:02:03.450 line:0\nR&amp;D <b>x</b> &lt; y\nsecond\n\n'],
] as const)('%s', (format, text) => {
  expect(writeSubtitle(LINES, format)).toBe(text);
});

test.each([
  ['srt', '&lt;b> &amp;lt; R&D'],
  ['vtt', '&lt;b> &amp;lt; R&amp;D'],
  ['ass', '<b> &lt; R&D'],
] as const)('brackets that are text stay so in %s', (format, text) => {
  const written = writeSubtitle(
    [{ index: 1, start_ms: 0, end_ms: 1000, text: '&lt;b> &amp;lt; R&D' }],
    format,
  );
  expect(written.trimEnd().split(/\n|,,/).at(-1)).toBe(text);
});

test('a row of only a tag that is left out leaves no blank row, which would end a cue of WebVTT', () => {
  const text = 'One\n</b> \nTwo';
  expect(writeSubtitle([{ index: 1, start_ms: 0, end_ms: 1000, text }], 'vtt')).toContain('\nOne\nTwo\n');
});

test('ass', () => {
  expect(writeSubtitle(LINES, 'ass')).toContain(
    'Dialogue: 0,0:00:01.00,1:02:03.45,Default,,0,0,0,,{\\an8}R&D {\\b1}x{\\b0} < y\\Nsecond',
  );
});
