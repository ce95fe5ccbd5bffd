import { expect, test } from 'vitest';
import { formatClock, formatCueTime, formatSeconds, speakClock } from '../../../src/batch/page/words.ts';

test('a clock shows hours only if there are any, and rounds down', () => {
  expect(formatClock(0)).toBe('0:00');
  expect(formatClock(65_999)).toBe('1:05');
  expect(formatClock(3_725_000)).toBe('1:02:05');
  expect(formatClock(-5)).toBe('0:00');
});

test('the start of a cue is shown to a tenth, never rounded into the next second', () => {
  expect(formatCueTime(65_250)).toBe('1:05.2');
  expect(formatCueTime(59_999)).toBe('0:59.9');
});

test('lengths are written with their unit', () => {
  expect(formatSeconds(2449)).toBe('2.4 s');
});

test('a screen reader reads minutes and seconds in words', () => {
  expect(speakClock(61_000)).toBe('1 minute 1 second');
  expect(speakClock(9_400)).toBe('9 seconds');
});
