import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countParts, SERVICE_SPLIT } from '../../../src/media/split/limits.ts';
import { type CutFacts, cutWindows, planCuts } from '../../../src/media/split/plan-cuts.ts';

/** Ten seconds a part, and two more where a silence asks for it: each cut may move a second either way. */
const LIMITS = { equalSeconds: 10, mostSeconds: 12, mostBytes: 1e6 };
const FACTS: CutFacts = { durationSeconds: 30, bytes: 1000, frameRate: { num: 25, den: 1 }, silences: [] };
const seconds = (facts: Partial<CutFacts>) =>
  planCuts({ ...FACTS, ...facts }, LIMITS, 3).map((cut) => cut.seconds);

describe('the number of parts', () => {
  test.each([
    ['one for what the service accepts', 895, 1000, 1],
    ['two for a second more', 896, 1000, 2],
    ['three for 40 minutes', 2400, 1000, 3],
    ['by bytes if they need more parts', 600, 3 * 1024 ** 3, 4],
    ['two for exactly the limit of bytes, which is exclusive', 600, 1024 ** 3, 2],
  ])('is %s', (_, durationSeconds, bytes, parts) => {
    expect(countParts({ durationSeconds, bytes }, SERVICE_SPLIT)).toBe(parts);
  });

  test('keeps every part within the limit wherever its cuts move', () => {
    fc.assert(
      fc.property(fc.double({ min: 896, max: 40_000, noNaN: true }), (durationSeconds) => {
        const video = { durationSeconds, bytes: 1 };
        const windows = cutWindows(video, SERVICE_SPLIT, countParts(video, SERVICE_SPLIT));
        const starts = [0, ...windows.map(({ start }) => start), durationSeconds];
        const ends = [0, ...windows.map(({ end }) => end), durationSeconds];
        for (const [at, start] of starts.slice(0, -1).entries()) {
          expect((ends[at + 1] ?? 0) - start).toBeLessThanOrEqual(SERVICE_SPLIT.mostSeconds + 1e-6);
          expect((starts[at + 1] ?? 0) - (ends[at] ?? 0)).toBeGreaterThan(0);
        }
        for (const { start, end } of windows) expect(end - start).toBeGreaterThan(20);
      }),
    );
  });
});

describe('a cut', () => {
  test('is in the middle of the silence, on the border of a frame', () => {
    expect(
      seconds({
        silences: [
          { start: 9.4, end: 9.8 },
          { start: 20.1, end: 20.73 },
        ],
      }),
    ).toEqual([9.6, 20.4]);
  });

  test('prefers the longer of two silences at a similar distance', () => {
    const silences = [
      { start: 9.3, end: 9.6 },
      { start: 10.3, end: 10.9 },
    ];
    expect(seconds({ silences })[0]).toBeCloseTo(10.6, 5);
  });

  test('is the equal point itself if a long stretch is silent', () => {
    expect(seconds({ silences: [{ start: 0, end: 30 }] })).toEqual([10, 20]);
  });

  test('falls back to the quietest moment, then to the equal point, and says so', () => {
    const levels = [
      { at: 9.2, energy: 0.1 },
      { at: 10.6, energy: 0.001 },
      { at: 19.6, energy: 0.2 },
    ];
    const cuts = planCuts({ ...FACTS, levels: levels.slice(0, 2) }, LIMITS, 3);
    expect(cuts.map((cut) => [cut.seconds, cut.in])).toEqual([
      [10.6, 'quietest'],
      [20, 'border'],
    ]);
  });

  test('is never inside a cue, in a silence or without one', () => {
    const cues = [
      { start: 9, end: 10.2 },
      { start: 10.2, end: 10.9 },
      { start: 19, end: 20.5 },
    ];
    expect(seconds({ cues })).toEqual([10.2, 20.52]);
    expect(
      seconds({
        cues,
        silences: [
          { start: 9.5, end: 11 },
          { start: 19.1, end: 20.9 },
        ],
      }),
    ).toEqual([10.2, 20.72]);
  });

  test('is clean if every window has a clean frame in a silence, otherwise none is moved for it', () => {
    const silences = [
      { start: 9.2, end: 9.8 },
      { start: 20.2, end: 20.8 },
    ];
    const clean = planCuts({ ...FACTS, silences, cleanFrames: [100, 235, 515] }, LIMITS, 3);
    expect(clean.map(({ frame, isClean }) => [frame, isClean])).toEqual([
      [235, true],
      [515, true],
    ]);
    const mixed = planCuts({ ...FACTS, silences, cleanFrames: [235, 400] }, LIMITS, 3);
    expect(mixed.map(({ frame }) => frame)).toEqual([238, 513]);
  });
});
