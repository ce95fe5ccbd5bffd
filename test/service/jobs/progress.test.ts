import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createProgress } from '../../../src/service/jobs/progress.ts';

test('whatever an engine reports, the percents rise, stay below 100 and come once a second at most', () => {
  const reports = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat({ max: 700 })));
  fc.assert(
    fc.property(reports, (sequence) => {
      let now = 0;
      const written: { percent: number; at: number }[] = [];
      const report = createProgress((percent) => written.push({ percent, at: now }), { now: () => now });
      for (const [fraction, wait] of sequence) {
        report(fraction);
        now += wait;
      }
      written.forEach(({ percent, at }, index) => {
        const before = written[index - 1];
        expect(percent).toBeLessThanOrEqual(99);
        if (before === undefined) return;
        expect(percent).toBeGreaterThan(before.percent);
        expect(at - before.at).toBeGreaterThanOrEqual(1000);
      });
    }),
  );
});

test('a new stage is told at once', () => {
  const written: [number, string | null][] = [];
  const report = createProgress((percent, stage) => written.push([percent, stage]), { now: () => 0 });
  report(0.1, 'separating');
  report(0.15, 'separating');
  report(0.2, 'recognizing');
  report(0.05, 'dubbing');
  expect(written).toEqual([
    [10, 'separating'],
    [20, 'recognizing'],
    [20, 'dubbing'],
  ]);
});
