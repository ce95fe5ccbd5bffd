/** How long the claims of several workers take while few and while many jobs wait in PostgreSQL. */
import { OPEN_JOBS } from '../src/service/background.ts';
import { createLeases } from '../src/service/running/leases.ts';
import { openPostgresAccount } from '../src/service/store/open-postgres.ts';
import type { Store } from '../src/service/store/store.ts';
import { freshAccount, startPostgres } from '../test/support/postgres.ts';
import { ANY_RATE, type Figure } from './figure.ts';
import { median } from './measure.ts';

const WAITING = [15, 1000, 10_000] as const;
const SHORT_WAITING = [15, 200] as const;
const WORKERS = 4;
/** Jobs that each worker takes in a round, so that most of 15 are taken. */
const CLAIMS = 3;
const KEYS = 20;
/** A round takes about a tenth of a second; other work on the machine changes it several times over. */
const ROUNDS = 31;
const SHORT_ROUNDS = 1;
/** The server then knows the statements and plans them once. */
const WARM_UP = 4;

interface Queue {
  /** Claims a second, of a round that begins with so many waiting jobs. */
  round(): Promise<number>;
  end(): Promise<void>;
}

export async function measureClaims(isShort: boolean): Promise<readonly Figure[]> {
  const counts = isShort ? SHORT_WAITING : WAITING;
  const rounds = isShort ? SHORT_ROUNDS : ROUNDS;
  const server = startPostgres({ isDurable: true });
  try {
    const queues = await Promise.all(counts.map((count) => openQueue(freshAccount(server), count)));
    const rates: number[][] = queues.map(() => []);
    // In turn, so that other work slows all of them down.
    for (let round = 0; round < WARM_UP + rounds; round += 1)
      for (const [at, queue] of queues.entries()) {
        const rate = await queue.round();
        if (round >= WARM_UP) rates[at]?.push(rate);
      }
    await Promise.all(queues.map((queue) => queue.end()));
    const [few = []] = rates;
    return [
      ...counts.map((count, at): Figure => {
        const name = `jobs claimed per second by ${WORKERS} workers, ${count} waiting`;
        return { name, value: median(rates[at] ?? []), unit: '', plausible: ANY_RATE };
      }),
      {
        name: `the same, ${counts[0]} waiting ÷ ${counts.at(-1)}`,
        value: median(few.map((rate, round) => rate / (rates.at(-1)?.[round] ?? Number.NaN))),
        unit: '×',
        // 0.8 to 2 on a busy machine; a claim that reads all waiting jobs takes 8 to 30 times as long.
        limit: { atMost: 4 },
        plausible: [0.01, 1000],
      },
    ];
  } finally {
    server.stop();
  }
}

async function openQueue(database: string, waiting: number): Promise<Queue> {
  const open = () => openPostgresAccount(database, null, Date.now);
  const store = await open();
  const stores = [store, ...(await Promise.all(Array.from({ length: WORKERS - 1 }, open)))];
  const workers = stores.map((each, at) => createLeases(each, OPEN_JOBS, `worker${at}`));
  await store.run(
    `INSERT INTO keys (id, secret, webhook_secret, permissions, allowed_addresses, created_at)
     SELECT 'vk_' || number, '', '', '', '', 0 FROM generate_series(0, ${KEYS - 1}) AS number`,
  );
  let added = 0;
  const claimSome = async (worker: (typeof workers)[number]) => {
    const ids: string[] = [];
    for (let at = 0; at < CLAIMS; at += 1) {
      const lease = await worker.claim(Date.now(), true, []);
      if (lease !== null) ids.push(lease.id);
    }
    return ids;
  };
  return {
    async round() {
      const isFirst = added === 0;
      added += await addJobs(store, added, waiting - (await countWaiting(store)));
      // The server does so itself, within a minute.
      if (isFirst) await store.run('ANALYZE');
      const begin = performance.now();
      const ids = (await Promise.all(workers.map(claimSome))).flat();
      const seconds = (performance.now() - begin) / 1000;
      for (const id of ids)
        await store.run(
          `UPDATE jobs SET status = 'succeeded', lease_owner = NULL, lease_until = NULL WHERE id = ?`,
          id,
        );
      return ids.length / seconds;
    },
    async end() {
      await Promise.all(stores.map((each) => each.close()));
    },
  };
}

async function countWaiting(store: Store): Promise<number> {
  const row = await store.get<{ count: number }>(
    `SELECT count(*) AS count FROM jobs WHERE ${OPEN_JOBS.open} AND lease_owner IS NULL`,
  );
  return row?.count ?? 0;
}

/** Of each key in turn, and as large as the job of a short subtitle. */
async function addJobs(store: Store, from: number, count: number): Promise<number> {
  await store.run(
    `INSERT INTO jobs (id, key_id, kind, status, created_at, updated_at, input, request, needs)
     SELECT 'job' || number, 'vk_' || number % ${KEYS}, 'dubbing', 'queued', number, 0, repeat('x', 300), repeat('x', 300),
       'dubbing - es'
     FROM generate_series(${from}, ${from + count - 1}) AS number`,
  );
  return count;
}
