import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  divideSlot,
  meetCues,
  placeTexts,
  planSlots,
  type SpokenText,
} from '../../../src/engines/speak/fit.ts';

const line = (index: number, start_ms: number, end_ms: number, text = `Text ${index}.`) => ({
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
    expect(slots).toMatchObject([
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

  test('may begin 0.3 s early after a pause, but not while another cue is shown, nor before the video', () => {
    const cues = [line(1, 200, 2_000, 'Yes.'), line(2, 2_100, 3_000, 'No.'), line(3, 3_000, 4_000, 'Oh.')];
    const song = line(4, 4_050, 5_000, '♪ la ♪');
    const slots = planSlots([...cues, song, line(5, 5_200, 6_000, 'Ah.'), line(6, 9_000, 9_500, 'Eh.')]);
    expect(slots.map(({ earliestMs }) => earliestMs)).toEqual([0, 2_000, 3_000, 5_000, 8_700]);
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

/** A text with one cue for each start. */
const slotOf = (starts: number | number[], endMs: number, limitMs: number, words = 'text'): SpokenText => {
  const all = [starts].flat();
  const parts = all.map((startMs, at) => ({
    ...{ indexes: [at + 1], text: words, startMs, endMs: all[at + 1] ?? endMs },
  }));
  const [startMs = 0] = all;
  const text = parts.map((part) => part.text).join(' ');
  return {
    indexes: all.map((_, at) => at + 1),
    parts,
    text,
    earliestMs: startMs,
    startMs,
    endMs,
    limitMs,
    aimMs: limitMs,
  };
};
const early = (slot: SpokenText, earliestMs: number): SpokenText => ({ ...slot, earliestMs });
const temposOf = (...args: Parameters<typeof placeTexts>) => placeTexts(...args).map(({ tempo }) => tempo);

describe('the tempo of a dub', () => {
  test('is natural for a text that fits, or that fits with the free time after its cue', () => {
    const slots = [slotOf(0, 2_000, 2_900), slotOf(3_000, 5_000, 9_000)];
    expect(placeTexts(slots, [2.9, 0.5])).toEqual([
      { startMs: 0, tempo: 1 },
      { startMs: 3_000, tempo: 1 },
    ]);
  });

  test('is natural for a text that fits if it begins early, as late as it can', () => {
    const slot = early(slotOf(2_000, 3_000, 3_000), 1_700);
    expect(placeTexts([slot], [1.2])).toEqual([{ startMs: 1_800, tempo: 1 }]);
    expect(placeTexts([slot], [1.3])).toEqual([{ startMs: 1_700, tempo: 1 }]);
    const [{ startMs, tempo } = { startMs: 0, tempo: 0 }] = placeTexts([slot], [1.4]);
    expect(startMs).toBe(1_700);
    expect(tempo).toBeCloseTo(1.4 / 1.265);
  });

  test('leaves a pause after the speech before a text that begins early', () => {
    const slots = [slotOf(0, 1_000, 1_900), early(slotOf(2_000, 3_000, 3_000), 1_700)];
    expect(placeTexts(slots, [1.65, 1.2])[1]).toEqual({ startMs: 1_800, tempo: 1 });
    expect(placeTexts(slots, [1.75, 1.2])[1]).toMatchObject({ startMs: 1_850 });
  });

  test('is as fast as the slot needs, up to the limit', () => {
    expect(temposOf([slotOf(0, 2_000, 2_035)], [2.5])[0]).toBeCloseTo(1.25);
    expect(temposOf([slotOf(0, 2_000, 2_000)], [30])).toEqual([1.59]);
  });

  test('rises towards a faster neighbour, but not across a long pause', () => {
    const slots = [slotOf(0, 2_000, 3_900), slotOf(4_000, 6_000, 6_035), slotOf(8_500, 9_000, 12_000)];
    const [before = 0, fast = 0, after] = temposOf(slots, [1, 3, 1]);
    expect(fast).toBeCloseTo(1.5);
    expect(fast / before).toBeCloseTo(1.24);
    expect(after).toBe(1);
  });

  test('does not rise beside a text that must be cut, which no tempo helps', () => {
    const slots = [slotOf(0, 2_000, 3_900), slotOf(4_000, 6_000, 6_035), slotOf(6_135, 9_000, 12_000)];
    expect(temposOf(slots, [1, 3.3, 1])).toEqual([1, 1.59, 1]);
  });

  const cue = fc.record({
    gap: fc.integer({ min: 0, max: 4_000 }),
    length: fc.integer({ min: 300, max: 7_000 }),
    spoken: fc.double({ min: 0.1, max: 12, noNaN: true }),
    text: fc.constantFrom('Yes.', 'and so,', 'he was'),
  });

  /** Beyond the error of a few divisions. */
  const ROUNDING = 1e-6;

  test('keeps its limits, whatever the cues are', () => {
    fc.assert(
      fc.property(fc.array(cue, { minLength: 1, maxLength: 40 }), (cues) => {
        let at = 0;
        const lines = cues.map(({ gap, length, text }, index) => {
          const start = at + gap;
          at = start + length;
          return line(index + 1, start, at, text);
        });
        const slots = planSlots(lines);
        const seconds = slots.map((_, place) => cues[place]?.spoken ?? 1);
        const placements = placeTexts(slots, seconds);
        const lengthOf = (place: number) => (seconds[place] ?? 0) / (placements[place]?.tempo ?? 1);
        const needs = slots.map(({ aimMs, earliestMs }, place) => {
          // The text before may be spoken faster than it was when the room for this one was found.
          const natural = (placements[place - 1]?.startMs ?? 0) + 1000 * (seconds[place - 1] ?? 0);
          const before = Math.min(slots[place - 1]?.limitMs ?? 0, natural);
          const from = Math.max(earliestMs, Math.min(slots[place]?.startMs ?? 0, before + 136));
          return (seconds[place] ?? 0) / Math.max(0.035, (aimMs - from) / 1000 - 0.035);
        });
        for (const [place, slot] of slots.entries()) {
          const { tempo, startMs } = placements[place] ?? { tempo: 0, startMs: 0 };
          const needed = needs[place] ?? 0;
          expect(tempo).toBeGreaterThanOrEqual(1);
          expect(tempo).toBeLessThanOrEqual(1.6);
          expect(startMs).toBeGreaterThanOrEqual(slot.earliestMs);
          expect(startMs).toBeLessThanOrEqual(slot.startMs);
          // Only a text that needs more is spoken more than 1.3 times as fast.
          if (needed < 1.3) expect(tempo).toBeLessThanOrEqual(1.3 + ROUNDING);
          if (needed < 1.59)
            expect(startMs + 1000 * lengthOf(place)).toBeLessThanOrEqual(slot.limitMs + ROUNDING);
          // Speech that begins early does not begin before there was a pause.
          const before = placements[place - 1];
          const until = Math.min(
            slots[place - 1]?.limitMs ?? 0,
            (before?.startMs ?? 0) + 1000 * lengthOf(place - 1),
          );
          if (before !== undefined) expect(startMs).toBeGreaterThanOrEqual(Math.floor(until + 99));
          const next = slots[place + 1];
          if (next === undefined || next.startMs - slot.endMs > 2_000) continue;
          if (next.startMs - slot.startMs > 1000 * (seconds[place] ?? 0) + 2_000) continue;
          const beside = placements[place + 1]?.tempo ?? 0;
          if ([tempo, beside].some((each) => each >= 1.59)) continue;
          expect(Math.max(tempo / beside, beside / tempo)).toBeLessThanOrEqual(1.25);
        }
      }),
    );
  });
});

describe('a sentence over several cues', () => {
  const cues = [
    line(1, 1_000, 3_000, 'Estaba en la calle buscando prensa'),
    line(2, 3_200, 5_000, 'uno ahora, y no había.'),
    line(3, 5_200, 6_000, 'Nada.'),
  ];

  test('is one text, from its first cue to 0.1 s before the next text, with one tempo', () => {
    const slots = planSlots(cues);
    expect(
      slots.map(({ indexes, text, startMs, endMs, limitMs }) => [indexes, text, startMs, endMs, limitMs]),
    ).toEqual([
      [[1, 2], 'Estaba en la calle buscando prensa uno ahora, y no había.', 1_000, 5_000, 5_100],
      [[3], 'Nada.', 5_200, 6_000, 7_500],
    ]);
    // Alone, the first cue would have 2.1 s for 2.7 s.
    expect(temposOf(slots, [4.1, 0.4])).toEqual([1, 1]);
  });

  test.each([
    ['after a pause of more than 0.6 s', [line(1, 0, 1_000, 'He was not'), line(2, 1_601, 3_000, 'there.')]],
    ['in the row of another speaker', [line(1, 0, 1_000, 'He was not'), line(2, 1_100, 3_000, '- there.')]],
    [
      'in a cue with the rows of two speakers',
      [
        line(1, 0, 1_000, 'He was not'),
        line(2, 1_100, 3_000, 'there,\n- no!'),
        line(3, 3_100, 4_000, 'or so.'),
      ],
    ],
    [
      'in a cue that names its speaker',
      [line(1, 0, 1_000, 'he was'), line(2, 1_100, 3_000, '<v Anna>there</v>')],
    ],
    [
      'in cues that are shown together',
      [line(1, 0, 3_000, 'he was'), line(2, 200, 3_000, 'and so'), line(3, 3_100, 4_000, 'or so.')],
    ],
  ])('does not go on %s', (_, lines) => {
    const [first] = planSlots(lines);
    expect(first?.parts.length).toBe(1);
  });

  test('is joined without spaces in scripts that have none, and without markup', () => {
    const lines = [line(1, 0, 1_000, '<i>今天天气很好，</i>'), line(2, 1_100, 2_000, '我们去{\\an8}爬山。')];
    expect(planSlots(lines).map(({ text }) => text)).toEqual(['今天天气很好，我们去爬山。']);
  });

  test('ends where the words of a cue would come long before it, if they have time enough in it', () => {
    const slot = slotOf([0, 5_000, 7_000], 9_000, 9_000);
    const [head, tail] = divideSlot(slot, 3, []) ?? [];
    expect([head?.indexes, head?.startMs, head?.endMs, head?.limitMs]).toEqual([[1], 0, 4_900, 4_900]);
    expect([tail?.indexes, tail?.startMs, tail?.limitMs]).toEqual([[2, 3], 5_000, 9_000]);
    // The second cue comes in time; the third has no time for its words.
    expect(divideSlot(slot, 14, [])).toBeNull();
    expect(divideSlot(slotOf([0, 2_000, 8_500], 9_000, 9_000), 6, [])).toBeNull();
    expect(divideSlot(slotOf(0, 9_000, 9_000), 1, [])).toBeNull();
  });

  test('goes on after a pause exactly when a cue starts that is within 0.25 s of it', () => {
    const slot = slotOf([0, 2_000, 4_000], 6_000, 6_000);
    const pauses = [
      { start: 1.6, end: 1.8 },
      { start: 3.7, end: 4 },
    ];
    const { changes } = meetCues(slot, 0, 5, pauses);
    expect(changes.map(({ at, by }) => [at, Number(by.toFixed(3))])).toEqual([
      [1.8, 0.2],
      [4, -0.2],
    ]);
    expect(meetCues(slot, 0, 5, [{ start: 1.6, end: 1.74 }]).changes).toEqual([]);
  });

  test('does not become longer than its time, and keeps a pause', () => {
    const slot = slotOf([0, 2_000], 6_000, 6_000);
    expect(meetCues(slot, 0, 5.9, [{ start: 1.6, end: 1.8 }]).changes[0]?.by).toBeCloseTo(0.1);
    expect(meetCues(slot, 0, 5.9, [{ start: 2, end: 2.2 }]).changes[0]?.by).toBeCloseTo(-0.15);
  });

  test('says how far the words of each cue are from its start, by letters and the pauses of clauses', () => {
    const shifts = (slot: SpokenText, startMs: number, pauses: Parameters<typeof meetCues>[3] = []) =>
      meetCues(slot, startMs, 4, pauses).shifts.map(({ cue, shift }) => [cue, Number(shift.toFixed(2))]);
    expect(shifts(slotOf([1_000, 2_000], 6_000, 6_000, 'abcd'), 800)).toEqual([
      [1, -0.2],
      [2, 1.02],
    ]);
    const pause = [{ start: 2.2, end: 2.5 }];
    expect(shifts(slotOf([0, 2_000], 6_000, 6_000, 'abc,'), 0, pause)).toEqual([
      [1, 0],
      [2, 0.5],
    ]);
    expect(shifts(slotOf([0, 2_400], 6_000, 6_000, 'abc,'), 0, pause)).toEqual([
      [1, 0],
      [2, 0],
    ]);
  });

  test('keeps within its limits, whatever the cues, the length of the speech and its pauses are', () => {
    const gaps = fc.array(fc.integer({ min: 400, max: 6_000 }), { minLength: 1, maxLength: 5 });
    const ends = fc.array(fc.double({ min: 0.2, max: 1.5, noNaN: true }), { maxLength: 8 });
    fc.assert(
      fc.property(gaps, ends, fc.double({ min: 0.1, max: 30, noNaN: true }), (own, steps, seconds) => {
        const starts = [0, ...own].map((_, at) => own.slice(0, at).reduce((sum, gap) => sum + gap, 0));
        const startMs = starts.at(-1) ?? 0;
        const pauses = steps
          .map((_, at) => steps.slice(0, at + 1).reduce((sum, step) => sum + step))
          .map((end) => ({ start: end - 0.15, end }))
          .filter(({ start, end }) => start > 0 && end < seconds);
        const slot = slotOf(starts, startMs + 2_000, startMs + 2_000);
        const { changes, shifts } = meetCues(slot, 0, seconds, pauses);
        const longer = changes.reduce((sum, { by }) => sum + by, 0);
        expect(seconds + longer).toBeLessThanOrEqual(Math.max(seconds, slot.limitMs / 1000) + 1e-9);
        for (const { by } of changes) expect(by).toBeGreaterThanOrEqual(-0.1 - 1e-9);
        for (const { by } of changes) expect(Math.abs(by)).toBeLessThanOrEqual(0.25 + 1e-9);
        expect(shifts.map(({ cue: number }) => number)).toEqual(slot.indexes);
      }),
    );
  });
});
