/**
 * How many jobs several workers take and finish while few and while many jobs wait in PostgreSQL, beside pg-boss on the same server.
 * Each job settles its credits in the transaction that finishes it.
 */
import { PgBoss } from 'pg-boss';
import { OPEN_JOBS } from '../src/service/background.ts';
import { systemClock } from '../src/service/clock.ts';
import { readReserved, settleCredits } from '../src/service/credits/billing.ts';
import { finishJob } from '../src/service/jobs/finish.ts';
import { createLeases } from '../src/service/running/leases.ts';
import { openPostgresAccount } from '../src/service/store/open-postgres.ts';
import type { PostgresStore } from '../src/service/store/postgres-store.ts';
import { freshAccount, type PostgresServer, startPostgres } from '../test/support/postgres.ts';
import { ANY_RATE, type Figure } from './figure.ts';
import { median } from './measure.ts';

/** Of the last two, the ratio to pg-boss is stated. */
const WAITING = [15, 1000, 10_000] as const;
const SHORT_WAITING = [15, 200] as const;
const WORKERS = 4;
/** Jobs that each worker takes in a round, so that most of 15 are taken. */
const CLAIMS = 3;
const KEYS = 20;
/** A round takes about a tenth of a second; other work on the machine changes it several times over. */
const ROUNDS = 15;
const SHORT_ROUNDS = 1;
/** The server then knows the statements and plans them once. */
const WARM_UP = 4;
/** Jobs of 300 machines with 8 each, most of which run while one is taken. */
const LEASED = 2336;

const SETTLED = { kind: 'dubbing', clientReference: null, quantity: 1 } as const;
const ENDING = {
  status: 'succeeded',
  result: { assets: {}, values: {}, provenance: { engines: [], cues: [] } },
  folder: '',
  quantity: 1,
} as const;

interface Queue {
  /** Fills it up, then lets all workers take and finish jobs. Returns jobs per second. */
  round(): Promise<number>;
  end(): Promise<void>;
}

interface Account {
  readonly address: string;
  readonly stores: readonly PostgresStore[];
  makeId(): string;
}

export async function measureClaims(isShort: boolean): Promise<readonly Figure[]> {
  const counts = isShort ? SHORT_WAITING : WAITING;
  const rounds = isShort ? SHORT_ROUNDS : ROUNDS;
  const server = startPostgres({ isDurable: true });
  try {
    const ours = await openEach(counts, (count) => openLeases(server, count, 0));
    const busy = await openLeases(server, 1000, LEASED);
    const peers = await openEach(counts.slice(1), (count) => openPeer(server, count));
    const queues = [...ours, busy, ...peers];
    const rates = new Map<Queue, number[]>(queues.map((queue) => [queue, []]));
    // In turn, so that other work slows all of them down.
    for (let round = 0; round < WARM_UP + rounds; round += 1)
      for (const queue of queues) {
        const rate = await queue.round();
        if (round >= WARM_UP) rates.get(queue)?.push(rate);
      }
    for (const queue of queues) await queue.end();
    const ratio = (one: Queue | undefined, other: Queue | undefined) =>
      median(valuesOf(one).map((rate, round) => rate / (valuesOf(other)[round] ?? Number.NaN)));
    const valuesOf = (queue: Queue | undefined) => (queue === undefined ? [] : (rates.get(queue) ?? []));
    return [
      ...counts.map((count, at): Figure => {
        const name = `jobs taken and finished per second by ${WORKERS} workers, ${count} waiting`;
        return { name, value: median(valuesOf(ours[at])), unit: '', plausible: ANY_RATE };
      }),
      {
        name: `the same, ${counts[0]} waiting ÷ ${counts.at(-1)}`,
        value: ratio(ours[0], ours.at(-1)),
        unit: '×',
        // 0.8 to 2 on a busy machine; a claim that reads all waiting jobs takes 8 to 30 times as long.
        limit: { atMost: 4 },
        plausible: [0.01, 1000],
      },
      {
        name: `the same, no job running ÷ ${LEASED} running`,
        value: ratio(ours[1], busy),
        unit: '×',
        limit: { atMost: 2 },
        plausible: [0.01, 1000],
      },
      ...peers.map((peer, at): Figure => {
        const name = `the same ÷ pg-boss, ${counts[at + 1]} waiting`;
        const value = ratio(ours[at + 1], peer);
        return { name, value, unit: '×', limit: { atLeast: 1 }, plausible: [0.01, 1000] };
      }),
    ];
  } finally {
    server.stop();
  }
}

/** One after another, because each migrates its tables. */
async function openEach(counts: readonly number[], open: (count: number) => Promise<Queue>) {
  const queues: Queue[] = [];
  for (const count of counts) queues.push(await open(count));
  return queues;
}

/** An account with keys, credits, and a store for each worker. */
async function openAccount(server: PostgresServer): Promise<Account> {
  const address = freshAccount(server);
  const open = () => openPostgresAccount(address, null, Date.now);
  const store = await open();
  const stores = [store, ...(await Promise.all(Array.from({ length: WORKERS - 1 }, open)))];
  await store.run(
    `INSERT INTO keys (id, secret, webhook_secret, permissions, allowed_addresses, created_at)
     SELECT 'vk_' || number, '', '', '', '', 0 FROM generate_series(0, ${KEYS - 1}) AS number`,
  );
  await store.run(`INSERT INTO grants (id, remaining) VALUES ('all', 1000000000)`);
  let ids = 0;
  return {
    address,
    stores,
    makeId() {
      ids += 1;
      return `id_${ids}`;
    },
  };
}

/** Jobs per second of workers that each take and finish some. */
async function rateOf(workers: readonly (() => Promise<void>)[]): Promise<number> {
  const begin = performance.now();
  await Promise.all(
    workers.map(async (takeAndFinish) => {
      for (let at = 0; at < CLAIMS; at += 1) await takeAndFinish();
    }),
  );
  return (workers.length * CLAIMS) / ((performance.now() - begin) / 1000);
}

async function openLeases(server: PostgresServer, waiting: number, leased: number): Promise<Queue> {
  const { stores, makeId } = await openAccount(server);
  const [store] = stores;
  if (store === undefined) throw new Error('no worker');
  let added = 0;
  const add = async (count: number) => {
    await addJobs(store, added, count);
    added += count;
  };
  const workers = stores.map((each, at) => {
    const leases = createLeases(each, OPEN_JOBS, `worker${at}`);
    return async () => {
      const lease = await leases.claim(Date.now(), false, []);
      if (lease === null) throw new Error('no job was taken');
      await finishJob({ store: each, clock: systemClock, makeId }, lease.id, `worker${at}`, ENDING);
    };
  });
  await add(leased);
  // Until after the bench.
  await store.run(`UPDATE jobs SET lease_owner = 'others', lease_until = ?`, Date.now() + 3_600_000);
  const renewAll = () =>
    store.run(`UPDATE jobs SET lease_until = lease_until + 1 WHERE lease_owner = 'others'`);
  await add(waiting);
  await store.run('ANALYZE');
  return {
    async round() {
      await add(leased + waiting - (await countOpen(store)));
      await renewAll();
      return rateOf(workers);
    },
    async end() {
      await Promise.all(stores.map((each) => each.close()));
    },
  };
}

async function countOpen(store: PostgresStore): Promise<number> {
  const row = await store.get<{ count: number }>(
    `SELECT count(*) AS count FROM jobs WHERE ${OPEN_JOBS.open}`,
  );
  return row?.count ?? 0;
}

/** Of each key in turn, and as large as the job of a short subtitle. */
async function addJobs(store: PostgresStore, from: number, count: number): Promise<void> {
  const numbers = `generate_series(${from}, ${from + count - 1}) AS number`;
  await store.run(
    `INSERT INTO jobs (id, key_id, kind, status, created_at, updated_at, input, request, needs)
     SELECT 'job' || number, 'vk_' || number % ${KEYS}, 'dubbing', 'queued', number, 0, repeat('x', 300), repeat('x', 300),
       'dubbing - es' FROM ${numbers}`,
  );
  await addBills(store, `'job' || number`, numbers);
}

function addBills(store: PostgresStore, id: string, from: string): Promise<number> {
  return store.run(
    `INSERT INTO bills (job_id, key_id, month, status, unit, quantity, price, reserved)
     SELECT ${id}, 'vk_0', '', 'reserved', 'second', 1, 1, 1 FROM ${from}`,
  );
}

const QUEUE = 'jobs';

/** The same jobs in pg-boss, whose completion joins the transaction of our credits. */
async function openPeer(server: PostgresServer, waiting: number): Promise<Queue> {
  const { address, stores, makeId } = await openAccount(server);
  const [store] = stores;
  if (store === undefined) throw new Error('no worker');
  const schema = `boss_${new URL(address).searchParams.get('schema')}`;
  const connectionString = server.url;
  const bosses = stores.map(
    () => new PgBoss({ connectionString, schema, max: 8, supervise: false, schedule: false }),
  );
  for (const boss of bosses) await boss.start();
  const [first] = bosses;
  await first?.createQueue(QUEUE);
  const data = { input: 'x'.repeat(300), request: 'x'.repeat(300) };
  const add = async (count: number) => {
    const jobs = Array.from({ length: count }, (_, at) => ({ data, group: { id: `vk_${at % KEYS}` } }));
    const ids = (await first?.insert(QUEUE, jobs, { returnId: true })) ?? [];
    await addBills(store, 'number', `unnest('{${ids.join(',')}}'::text[]) AS number`);
  };
  const workers = bosses.map((boss, at) => async () => {
    const [job] = await boss.fetch(QUEUE);
    if (job === undefined) throw new Error('no job was taken');
    await stores[at]?.transaction(async (tx) => {
      const reserved = await readReserved(tx, job.id, Date.now());
      await settleCredits(tx, reserved, { id: job.id, ...SETTLED }, Date.now(), makeId);
      const db = {
        // Its arrays are values of pg, which ours need not be.
        executeSql: async (sql: string, values: unknown[] = []) => ({
          rows: await tx.all<unknown>(sql, ...(values as string[])), // a cast, as said
        }),
      };
      await boss.complete(QUEUE, job.id, null, { db });
    });
  });
  await add(waiting);
  await store.run('ANALYZE');
  let left = waiting;
  return {
    async round() {
      await add(waiting - left);
      left = waiting - WORKERS * CLAIMS;
      return rateOf(workers);
    },
    async end() {
      await Promise.all(bosses.map((boss) => boss.stop({ graceful: false })));
      await Promise.all(stores.map((each) => each.close()));
    },
  };
}
