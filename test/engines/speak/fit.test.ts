import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Speaker } from '../../../src/engines/backend.ts';
import { fittingSpeed, fittingTempo, planSlots } from '../../../src/engines/speak/fit.ts';

const line = (index: number, start_ms: number, end_ms: number, text = `text ${index}`) => ({
  index,
  start_ms,
  end_ms,
  text,
});

describe('the slots of a dub', () => {
  test('may continue 1.5 s after their cue, but not into the next', () => {
    const slots = planSlots([line(1, 1_000, 2_000), line(2, 2_500, 3_000), line(3, 9_000, 9_500)], 10_000);
    expect(slots.map(({ startMs, endMs, limitMs }) => [startMs, endMs, limitMs])).toEqual([
      [1_000, 2_000, 2_420],
      [2_500, 3_000, 4_500],
      [9_000, 9_500, 10_000],
    ]);
  });

  test('are shared by cues that begin together, one spoken after the other', () => {
    const slots = planSlots([line(2, 1_100, 3_000, 'second'), line(1, 1_000, 2_000, 'first')], 10_000);
    expect(slots).toEqual([
      { indexes: [1, 2], text: 'first second', startMs: 1_000, endMs: 3_000, limitMs: 4_500 },
    ]);
  });

  test('skip cues without words and those after the end', () => {
    expect(planSlots([line(1, 0, 500, '♪'), line(2, 20_000, 21_000)], 10_000)).toEqual([]);
  });

  test('skip descriptions of sounds and songs', () => {
    const cues = [
      line(1, 0, 500, '[door slams]'),
      line(2, 3_000, 4_000, '♪ La ♪'),
      line(3, 6_000, 7_000, '(sighs) Yes.'),
    ];
    expect(planSlots(cues, 10_000).map(({ indexes, text }) => [indexes, text])).toEqual([[[3], 'Yes.']]);
  });

  test('contain only the words', () => {
    expect(planSlots([line(1, 0, 500, '<i>Hello\nyou</i>')], 1_000)[0]?.text).toBe('Hello you');
  });

  test('never overlap, whatever the cues are', () => {
    const cue = fc.record({
      start: fc.integer({ min: 0, max: 60_000 }),
      length: fc.integer({ min: 1, max: 20_000 }),
    });
    fc.assert(
      fc.property(fc.array(cue, { maxLength: 30 }), (cues) => {
        const slots = planSlots(
          cues.map(({ start, length }, at) => line(at + 1, start, start + length)),
          50_000,
        );
        for (const [at, slot] of slots.entries()) {
          expect(slot.limitMs).toBeGreaterThan(slot.startMs);
          expect(slot.limitMs).toBeLessThanOrEqual(50_000);
          expect(slot.startMs).toBeGreaterThanOrEqual((slots[at - 1]?.limitMs ?? -80) + 80);
        }
        const spoken = slots.flatMap((slot) => slot.indexes).length;
        expect(spoken).toBe(cues.filter(({ start }) => start < 50_000).length);
      }),
    );
  });
});

const SPEEDS = { least: 0.8, most: 1.6 };
const speedFor = (spoken: number, slot: number, available: number, speeds: Speaker['speeds'] = SPEEDS) =>
  fittingSpeed(speeds, { spoken, slot, available });

test('a text that fits is spoken at normal speed', () => {
  expect(speedFor(1.8, 2, 3)).toBeNull();
  expect(speedFor(2.9, 2, 3)).toBeNull();
  expect(fittingTempo(2.9, 3)).toBe(1);
});

test('a text that is too long is spoken faster, a short one slower', () => {
  expect(speedFor(3.6, 2, 3)).toBeCloseTo(3.6 / (3 * 0.98));
  expect(speedFor(1.6, 2, 3)).toBe(1.6 / (2 * 0.98));
});

test('no voice speaks faster or slower than it can, and silence has no speed', () => {
  expect(speedFor(30, 2, 3)).toBe(1.6);
  expect(speedFor(0.1, 5, 5)).toBe(0.8);
  expect(speedFor(0, 5, 5)).toBeNull();
});

test('a voice with one speed, or an inaudible change, is not tried again', () => {
  expect(speedFor(30, 2, 3, null)).toBeNull();
  expect(speedFor(1.96, 2.31, 1.955)).not.toBeNull();
  expect(speedFor(2.942, 2, 2.9999, { least: 1, most: 1.001 })).toBeNull();
});

test('a tempo always makes it fit', () => {
  const seconds = fc.double({ min: 0.05, max: 60, noNaN: true });
  fc.assert(
    fc.property(seconds, seconds, (spoken, available) => {
      const tempo = fittingTempo(spoken, available);
      expect(tempo).toBeGreaterThanOrEqual(1);
      expect(spoken / tempo).toBeLessThanOrEqual(available);
    }),
  );
});
