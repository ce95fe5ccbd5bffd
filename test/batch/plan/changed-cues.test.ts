/** Which cues are dubbed again after an edit, and where the track is replaced. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { earlyTimes, findChanges } from '../../../src/batch/plan/changed-cues.ts';
import type { SubtitleLine } from '../../../src/protocol/subtitle-line.ts';

type Cue = readonly [startMs: number, endMs: number, text: string];

const lines = (...cues: readonly Cue[]): SubtitleLine[] =>
  cues.map(([start_ms, end_ms, text], at) => ({ index: at + 1, start_ms, end_ms, text }));

const TALK: readonly Cue[] = [
  [0, 900, 'One.'],
  [1000, 1900, 'Two.'],
  [6000, 6900, 'Three.'],
  [12_000, 12_900, 'Four.'],
];
const [ONE, TWO, THREE, FOUR] = TALK as [Cue, Cue, Cue, Cue]; // there are four
const NEW: Cue = [1000, 1900, 'New.'];

describe('an edited cue', () => {
  it('is sent at its time, and replaced up to the next one that stays', () => {
    const { places, lines: sent, numbers } = findChanges(lines(...TALK), lines(ONE, NEW, THREE, FOUR));
    expect(places).toEqual([{ startMs: 900, endMs: 6000, spoken: [[1000, 1900]] }]);
    expect(sent).toEqual([{ index: 1, start_ms: 1000, end_ms: 1900, text: 'New.' }]);
    expect(numbers).toEqual([2]);
  });

  it('is sent with the one that follows closely, whose sound is not used', () => {
    const edited: Cue = [0, 900, 'Uno.'];
    const { places, numbers } = findChanges(lines(...TALK), lines(edited, TWO, THREE, FOUR));
    expect(numbers).toEqual([1, null]);
    expect(places[0]).toMatchObject({ startMs: 0, endMs: 1000 });
  });

  it('is sent with those that share its time', () => {
    const other: Cue = [1500, 3000, 'meanwhile'];
    const before = lines(ONE, TWO, other, THREE);
    expect(findChanges(before, lines(ONE, NEW, other, THREE)).numbers).toEqual([2, 3]);
  });

  it('is sent with the rest of its sentence, before and after the edit', () => {
    const he: Cue = [0, 900, 'He was'];
    const was: Cue = [1000, 1900, 'not there.'];
    const then: Cue = [6000, 6900, 'Then.'];
    const cues = [he, was, then];
    const ended: Cue = [0, 900, 'He left.'];
    expect(findChanges(lines(...cues), lines(ended, was, then)).numbers).toEqual([1, 2]);
    expect(findChanges(lines(ended, was), lines(he, was)).numbers).toEqual([1, 2]);
    const edited: Cue = [1000, 1900, 'not here.'];
    expect(findChanges(lines(...cues), lines(he, edited, then)).numbers).toEqual([1, 2]);
  });

  it('is replaced from where its speech may begin, together with the cue before it if the track speaks there', () => {
    const now = lines(ONE, TWO, [6000, 6900, 'Drei.'], FOUR);
    expect(earlyTimes(lines(...TALK), now)).toEqual([
      { fromMs: 900, startMs: 1000 },
      ...[6000, 12_000].map((startMs) => ({ fromMs: startMs - 300, startMs })),
    ]);
    expect(findChanges(lines(...TALK), now).places[0]).toMatchObject({ startMs: 5700, endMs: 12_000 });
    const heard = findChanges(lines(...TALK), now, new Set(), new Set([6000]));
    expect([heard.numbers, heard.places[0]?.startMs, heard.places[0]?.endMs]).toEqual([[2, 3], 900, 12_000]);
    expect(findChanges(lines(...TALK), now, new Set(), new Set([12_000])).numbers).toEqual([3, 4]);
  });

  it('is replaced up to the end if it is the last', () => {
    const { places } = findChanges(lines(ONE), lines([0, 900, 'uno']));
    expect(places[0]?.endMs).toBeNull();
  });
});

it('a removed cue is a place without speech', () => {
  const { places, lines: sent } = findChanges(lines(...TALK), lines(ONE, TWO, FOUR));
  expect(places).toEqual([{ startMs: 5700, endMs: 12_000, spoken: [] }]);
  expect(sent).toEqual([]);
});

it('nothing changes if cues are only numbered otherwise, but for those that are wanted again', () => {
  const renumbered = lines(...TALK).map((line) => ({ ...line, index: line.index + 10 }));
  expect(findChanges(lines(...TALK), renumbered)).toMatchObject({ places: [], lines: [] });
  expect(findChanges(lines(...TALK), renumbered, new Set([13])).numbers).toEqual([13]);
});

it('of any edit, every changed cue is inside a place, and no cue that stays is in or across one', () => {
  const cue = fc
    .tuple(fc.nat(200), fc.integer({ min: 1, max: 40 }), fc.constantFrom('A.', 'b', 'c,'))
    .map(([start, length, text]): Cue => [start * 100, (start + length) * 100, text]);
  const list = fc.array(cue, { maxLength: 12 }).map((cues) => cues.toSorted(([one], [other]) => one - other));
  fc.assert(
    fc.property(list, list, list, fc.array(fc.nat(30)), (common, removed, added, wanted) => {
      const sorted = (...cues: Cue[]) => lines(...cues.toSorted(([one], [other]) => one - other));
      const [before, now] = [sorted(...common, ...removed), sorted(...common, ...added)];
      const again = new Set(wanted);
      const { places, lines: sent, numbers, kept } = findChanges(before, now, again);
      const endOf = ({ endMs }: { endMs: number | null }) => endMs ?? Number.POSITIVE_INFINITY;
      for (const [at, place] of places.entries()) {
        expect(place.startMs).toBeLessThan(endOf(place));
        expect(place.startMs).toBeGreaterThanOrEqual(at === 0 ? 0 : endOf(places[at - 1] ?? place));
      }
      const stays = new Map(kept.map(([one, other]) => [other, one]));
      const holds = ({ start_ms, end_ms }: SubtitleLine) =>
        places.some((place) => place.startMs <= start_ms && end_ms <= endOf(place));
      for (const line of now) {
        const meets = places.some((place) => line.start_ms < endOf(place) && place.startMs < line.end_ms);
        if (stays.has(line.index)) expect(meets).toBe(false);
        else expect(holds(line)).toBe(true);
        expect(numbers.includes(line.index)).toBe(!stays.has(line.index));
        if (again.has(line.index)) expect(stays.has(line.index)).toBe(false);
      }
      const kepts = new Set(stays.values());
      for (const line of before) if (!kepts.has(line.index)) expect(holds(line)).toBe(true);
      for (const [number, old] of stays) {
        const [one, other] = [before[old - 1], now[number - 1]];
        expect({ ...one, index: 0 }).toEqual({ ...other, index: 0 });
      }
      expect(sent.map(({ index }) => index)).toEqual(sent.map((_, at) => at + 1));
    }),
  );
});
