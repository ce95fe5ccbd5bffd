/** Creates and cancels at the same time, while jobs end: the slots and the credits hold at every commit. */
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { LIMITS } from '../../../src/protocol/limits.ts';
import { openSqliteFile } from '../../../src/service/store/sqlite-file.ts';
import { runs } from '../../protocol/arbitraries.ts';
import { startScene } from '../harness/scene.ts';

/** Hundreds of requests: seconds, on a busy machine a minute. */
const PATIENCE = { timeout: 180_000 };

const PATH = '/v1/subtitle-translations';
const GRANTED = 400;

const step = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('create' as const), lines: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('cancel' as const), which: fc.nat() }) },
);

/** More jobs than there are slots. */
const FULL = Array.from({ length: 30 }, () => ({ type: 'create' as const, lines: 1 }));

const translationOf = (lines: number) => ({
  subtitle: {
    type: 'lines',
    lines: Array.from({ length: lines }, (_, at) => ({
      ...{ index: at + 1, start_ms: at * 1000, end_ms: at * 1000 + 500, text: 'hello' },
    })),
  },
  source_language: 'en',
  target_language: 'es',
});

interface Sums {
  readonly open: number;
  readonly balance: number;
  readonly ledger: number;
  readonly reserved: number;
  readonly charged: number;
}

const SUMS = `
  SELECT (SELECT count(*) FROM jobs WHERE status IN ('queued', 'processing')) AS open,
    (SELECT sum(remaining) FROM grants) AS balance,
    (SELECT sum(amount) FROM ledger) AS ledger,
    (SELECT coalesce(sum(reserved), 0) FROM bills WHERE status = 'reserved') AS reserved,
    (SELECT coalesce(sum(charged), 0) FROM bills WHERE status = 'settled') AS charged`;

test(
  'concurrent creates and cancels never exceed the slots, and no credit appears or is lost',
  PATIENCE,
  async () => {
    const { caller, engines, stateDir } = await startScene({ config: { openingCredits: GRANTED } });
    const seen = openSqliteFile(join(stateDir, 'service.sqlite'), { synchronous: 'NORMAL', advice: '' });
    onTestFinished(() => seen.close());
    let mostOpen = 0;
    const check = () => {
      const sums = seen.get<Sums>(SUMS);
      if (sums === undefined) throw new Error('there is no account');
      mostOpen = Math.max(mostOpen, sums.open);
      expect(sums.open).toBeLessThanOrEqual(LIMITS.concurrentTasks);
      expect(sums.balance - sums.reserved).toBeGreaterThanOrEqual(0);
      expect(sums.ledger).toBe(sums.balance);
      expect(sums.balance + sums.charged).toBe(GRANTED * 1000);
    };
    const jobs: string[] = [];
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 20, maxLength: 50 }),
        fc.boolean(),
        async (steps, held) => {
          if (held) engines.hold();
          await Promise.all(
            steps.map(async (each) => {
              const reply =
                each.type === 'create'
                  ? await caller.post(PATH, translationOf(each.lines))
                  : await caller.delete(`${PATH}/${jobs[each.which % Math.max(1, jobs.length)] ?? 'none'}`);
              statuses.add(reply.status);
              if (each.type === 'create' && reply.status === 202) jobs.push(reply.json.id);
              check();
            }),
          );
          engines.letGo();
          check();
        },
      ),
      { numRuns: runs(2, 200), endOnFailure: true, examples: [[FULL, true]] },
    );
    expect(mostOpen).toBe(LIMITS.concurrentTasks);
    expect([...statuses].filter((status) => ![202, 402, 404, 409, 429].includes(status))).toEqual([]);
  },
);
