/** One account in a database: its limits and credits under many requests over three nodes, its keys, and its control interface. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/protocol/limits.ts';
import { startControlledService } from '../service/harness/controlled.ts';
import { NEW_JOB, startScene, until } from '../service/harness/scene.ts';
import { freshAccount } from '../support/postgres.ts';
import { NO_POSTGRES, usePostgres } from '../support/use-postgres.ts';
import { type Fleet, openFleet, translation } from './fleet.ts';

const ENTRY = fileURLToPath(new URL('../cli/support/run.ts', import.meta.url));

const server = usePostgres();

const REQUESTS = 200;
const GRANTED = 60;

/** Slots and thousandths of credits at one moment: one statement sees one state of the database. */
const read = async ({ store }: Fleet) => {
  const row = await store.get<{ open: number; remaining: number; reserved: number; charged: number }>(
    `SELECT (SELECT count(*) FROM jobs WHERE status IN ('queued', 'processing')) AS open,
       (SELECT sum(remaining) FROM grants) AS remaining,
       (SELECT coalesce(sum(reserved), 0) FROM bills WHERE status = 'reserved') AS reserved,
       (SELECT coalesce(-sum(amount), 0) FROM ledger WHERE job_id IS NOT NULL) AS charged`,
  );
  if (row === undefined) throw new Error('the account is empty');
  return row;
};

describe.skipIf(NO_POSTGRES)(
  '200 concurrent requests over three nodes (need postgresql: sh .ci/packages)',
  () => {
    it('never have more open jobs than slots, and spend exactly what was granted', async () => {
      const fleet = await openFleet(server);
      const config = { openingCredits: GRANTED, rate: { requests: 10_000, windowSeconds: 60 } };
      const nodes = [
        await fleet.startApi({ config }),
        await fleet.startApi({ config }),
        await fleet.startApi({ config }),
      ];
      const [first] = nodes;
      if (first === undefined) throw new Error('there is no node');
      await fleet.startWorker(undefined, { config: { workers: 2 } });

      const seen: Awaited<ReturnType<typeof read>>[] = [];
      let isOver = false;
      const watching = (async () => {
        while (!isOver) seen.push(await read(fleet));
      })();
      const statuses = await Promise.all(
        Array.from({ length: REQUESTS }, async (_, at) => {
          const caller = (nodes[at % nodes.length] ?? first).callerFor(first.credentials);
          for (;;) {
            const { status } = await caller.post(NEW_JOB, translation(), `request-${at}-of-many`);
            // Many wait for the lock of transactions; on a busy machine some wait too long, and are sent again as clients do.
            if (status !== 503) return status;
          }
        }),
      );
      const last = await until(
        () => read(fleet),
        ({ open }) => open === 0,
      );
      isOver = true;
      await watching;

      const count = (status: number) => statuses.filter((each) => each === status).length;
      expect(count(202) + count(402) + count(429)).toBe(REQUESTS);
      expect(count(202)).toBeGreaterThanOrEqual(LIMITS.concurrentTasks);
      expect(Math.max(...seen.map(({ open }) => open))).toBeLessThanOrEqual(LIMITS.concurrentTasks);
      expect(seen.filter(({ remaining, charged }) => remaining + charged !== GRANTED * 1000)).toEqual([]);
      expect(seen.filter(({ remaining, reserved }) => remaining < reserved)).toEqual([]);
      expect(last).toEqual({
        open: 0,
        reserved: 0,
        charged: count(202) * 1000,
        remaining: (GRANTED - count(202)) * 1000,
      });
    });
  },
);

describe.skipIf(NO_POSTGRES)('the keys in a database (needs postgresql: sh .ci/packages)', () => {
  it('need no folder, so that a user without a home creates them', () => {
    // A folder that nobody can create, not even root.
    const env = {
      PATH: process.env.PATH,
      HOME: '/dev/null',
      VLOC_NO_UPDATE_NOTICE: '1',
      VLOC_DATABASE: freshAccount(server),
    };
    const words = [ENTRY, 'serve', 'keys', 'create', '--output', 'json'];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, expect.not.stringContaining('DISK_ERROR')]);
    expect(JSON.parse(stdout)).toMatchObject({ key: expect.any(String), secret: expect.any(String) });
  });
});

describe.skipIf(NO_POSTGRES)(
  'a controlled service with a database (needs postgresql: sh .ci/packages)',
  () => {
    it('does not move its clock while another node uses the database, and does so when that has stopped', async () => {
      const database = freshAccount(server);
      const { ask, stateDir } = await startControlledService({ database });
      const other = await startScene({ database, stateDir });
      for (const path of ['/clock/advance', '/clock/freeze']) {
        const { status, json } = await ask(
          'POST',
          path,
          path.endsWith('advance') ? { seconds: 1 } : undefined,
        );
        expect([path, status]).toEqual([path, 400]);
        expect(json.detail).toContain('2 nodes use the database');
      }
      expect((await ask('POST', '/credits', { credits: 1 })).status).toBe(200);
      await other.service.close();
      await until(
        () => ask('POST', '/clock/advance', { seconds: 3600 }),
        ({ status }) => status === 200,
      );
      expect((await ask('POST', '/clock/freeze')).status).toBe(200);
    });
  },
);
