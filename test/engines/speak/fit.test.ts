import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { availableSeconds, planSlots, planTempos, type SpokenText } from '../../../src/engines/speak/fit.ts';

const line = (index: number, start_ms: number, end_ms: number, text = `text ${index}`) => ({
  index,
  start_ms,
  end_ms,
  text,
});

describe('the slots of a dub', () => {
  test('last until 0.1 s before the next, and the last until 1.5 s after its cue', () => {
    const slots = planSlots([line(1, 1_000, 2_000), line(2, 2_500, 3_000), line(3, 9_000, 9_500)]);
    expect(slots.map(({ startMs, endMs, limitMs }) => [startMs, endMs, limitMs])).toEqual([
      [1_000, 2_000, 2_400],
      [2_500, 3_000, 8_900],
      [9_000, 9_500, 11_000],
    ]);
  });

  test('are shared by cues that begin together, one spoken after the other', () => {
    const slots = planSlots([line(2, 1_100, 3_000, 'second'), line(1, 1_000, 2_000, 'first')]);
    expect(slots).toEqual([
      { indexes: [1, 2], text: 'first second', startMs: 1_000, endMs: 3_000, limitMs: 4_500, aimMs: 3_000 },
    ]);
  });

  test('end with the video, and aim at the end of the last cue where the video is not known', () => {
    const cues = [line(1, 12_900, 14_000), line(2, 14_500, 15_000)];
    const known = planSlots(cues, 14_000).map(({ limitMs, aimMs }) => [limitMs, aimMs]);
    expect(known).toEqual([
      [14_000, 14_000],
      [14_500, 14_500],
    ]);
    const unknown = planSlots(cues.slice(0, 1))[0];
    expect([unknown?.limitMs, unknown?.aimMs]).toEqual([15_500, 14_000]);
  });

  test('skip cues without words', () => {
    expect(planSlots([line(1, 0, 500, '♪')])).toEqual([]);
  });

  test('skip descriptions of sounds and songs', () => {
    const cues = [
      line(1, 0, 500, '[door slams]'),
      line(2, 3_000, 4_000, '♪ La ♪'),
      line(3, 6_000, 7_000, '(sighs) Yes.'),
    ];
    expect(planSlots(cues).map(({ indexes, text }) => [indexes, text])).toEqual([[[3], 'Yes.']]);
  });

  test('contain only the words', () => {
    expect(planSlots([line(1, 0, 500, '<i>Hello\nyou</i>')])[0]?.text).toBe('Hello you');
  });

  test('never overlap, whatever the cues are', () => {
    const cue = fc.record({
      start: fc.integer({ min: 0, max: 60_000 }),
      length: fc.integer({ min: 1, max: 20_000 }),
    });
    fc.assert(
      fc.property(fc.array(cue, { maxLength: 30 }), (cues) => {
        const slots = planSlots(cues.map(({ start, length }, at) => line(at + 1, start, start + length)));
        for (const [at, slot] of slots.entries()) {
          expect(slot.limitMs).toBeGreaterThan(slot.startMs);
          expect(slot.startMs).toBeGreaterThanOrEqual((slots[at - 1]?.limitMs ?? -100) + 100);
        }
        const spoken = slots.flatMap((slot) => slot.indexes).length;
        expect(spoken).toBe(cues.length);
      }),
    );
  });
});

const slotOf = (startMs: number, endMs: number, limitMs: number): SpokenText => ({
  indexes: [1],
  text: 'text',
  startMs,
  endMs,
  limitMs,
  aimMs: limitMs,
});

describe('the tempo of a dub', () => {
  test('is natural for a text that fits, or that fits with the free time after its cue', () => {
    const slots = [slotOf(0, 2_000, 2_900), slotOf(3_000, 5_000, 9_000)];
    expect(planTempos(slots, [2.9, 0.5])).toEqual([1, 1]);
  });

  test('is as fast as the slot needs, up to the limit', () => {
    expect(planTempos([slotOf(0, 2_000, 2_035)], [2.5])[0]).toBeCloseTo(1.25);
    expect(planTempos([slotOf(0, 2_000, 2_000)], [30])).toEqual([1.59]);
  });

  test('rises towards a faster neighbour, but not across a long pause', () => {
    const slots = [slotOf(0, 2_000, 3_900), slotOf(4_000, 6_000, 6_035), slotOf(8_500, 9_000, 12_000)];
    const [before = 0, fast = 0, after] = planTempos(slots, [1, 3, 1]);
    expect(fast).toBeCloseTo(1.5);
    expect(fast / before).toBeCloseTo(1.24);
    expect(after).toBe(1);
  });

  const cue = fc.record({
    gap: fc.integer({ min: 0, max: 4_000 }),
    length: fc.integer({ min: 300, max: 7_000 }),
    spoken: fc.double({ min: 0.1, max: 12, noNaN: true }),
  });

  test('keeps its limits, whatever the cues are', () => {
    fc.assert(
      fc.property(fc.array(cue, { minLength: 1, maxLength: 40 }), (cues) => {
        let at = 0;
        const lines = cues.map(({ gap, length }, index) => {
          const start = at + gap;
          at = start + length;
          return line(index + 1, start, at);
        });
        const slots = planSlots(lines);
        const seconds = slots.map((_, place) => cues[place]?.spoken ?? 1);
        const tempos = planTempos(slots, seconds);
        for (const [place, slot] of slots.entries()) {
          const tempo = tempos[place] ?? 0;
          const aimed = (slot.aimMs - slot.startMs) / 1000;
          const needed = (seconds[place] ?? 0) / Math.max(0.035, aimed - 0.035);
          expect(tempo).toBeGreaterThanOrEqual(1);
          expect(tempo).toBeLessThanOrEqual(1.6);
          // Only a text that needs more is spoken more than 1.3 times as fast.
          if (needed <= 1.3) expect(tempo).toBeLessThanOrEqual(1.3);
          if (needed < 1.59)
            expect((seconds[place] ?? 0) / tempo).toBeLessThanOrEqual(availableSeconds(slot));
          const next = slots[place + 1];
          if (next === undefined || next.startMs - slot.endMs > 2_000) continue;
          if (next.startMs - slot.startMs > 1000 * (seconds[place] ?? 0) + 2_000) continue;
          const beside = tempos[place + 1] ?? 0;
          expect(Math.max(tempo / beside, beside / tempo)).toBeLessThanOrEqual(1.25);
        }
      }),
    );
  });
});
