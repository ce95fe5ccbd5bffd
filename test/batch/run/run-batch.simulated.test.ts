import { expect, test } from 'vitest';
import { meanOf } from '../../client/simulation/simulate-waiting.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { simulate } from './simulation/simulate.ts';

const IS_LONG = process.env.VLOC_LONG_TESTS === '1';
/** Each takes some 25 ms, most of it for the disk. */
const JOBS = IS_LONG ? 10_000 : 60;
const PATIENCE_MS = IS_LONG ? 30 * 60_000 : 3 * 60_000;

test(
  `${JOBS} jobs of two minutes over fifteen slots finish quickly, with few requests and none twice`,
  async () => {
    const ran = await simulate({ items: JOBS, progress: 'staged', medianMs: 120_000, folder: makeFolder() });

    expect(ran.outcomes.filter(({ state }) => state.phase !== 'done')).toEqual([]);
    const { results, uploads, downloads, refusals } = ran.counts;
    expect([ran.jobs, results, downloads]).toEqual([JOBS, JOBS, JOBS]);
    expect([uploads, refusals]).toEqual([JOBS / 10, 0]);

    expect(ran.makespan).toBeGreaterThanOrEqual(1);
    expect(ran.makespan).toBeLessThanOrEqual(1.02);
    // Of few jobs, the last ones run alone for long.
    expect(ran.statusRequests).toBeLessThanOrEqual(IS_LONG ? 2 : 3.1);
    expect(meanOf(ran.delaysMs)).toBeLessThanOrEqual(3_000);
    expect(Math.min(...ran.pausesMs)).toBeGreaterThanOrEqual(1_000);
    // Each adds its own round trip, and that of a result.
    expect(Math.max(...ran.pausesMs)).toBeLessThanOrEqual(5_600);
    expect(ran.replayMs).toBeLessThanOrEqual(2_000);
  },
  PATIENCE_MS,
);
