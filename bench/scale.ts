/**
 * Several nodes of a service on one PostgreSQL server, all on this machine: rates for 1, 2 and 4 of them, the CPU time that each
 * component needs for a job, and what the model makes of these costs for many machines.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { OPEN_JOBS, OPEN_VALIDATIONS } from '../src/service/background.ts';
import { storePath } from '../src/service/folders.ts';
import { PENDING } from '../src/service/outgoing/webhooks/deliveries.ts';
import { createLeases, RENEW_MS } from '../src/service/running/leases.ts';
import { openPostgresAccount } from '../src/service/store/open-postgres.ts';
import { freshAccount, type PostgresServer, startPostgres } from '../test/support/postgres.ts';
import { ANY_RATE, type Figure } from './figure.ts';
import { type Costs, type Load, mostWorkers, predict, predictOnOneMachine } from './scale-model.ts';
import { openConnections, type Reply } from './service/connections.ts';
import { signedBytes, type Unsigned } from './service/sign.ts';
import { type RunningService, startService } from './service/start.ts';

const NODES = [1, 2, 4] as const;
const SHORT_NODES = [1] as const;
/** Enough for a second of work on two cores, after the JIT has compiled the nodes. */
const FULL = { nodes: NODES, reads: 2000, creates: 400, warmUp: 300, seconds: 600 };
const SHORT = { nodes: SHORT_NODES, reads: 100, creates: 120, warmUp: 20, seconds: 30 };

type Size = typeof FULL | typeof SHORT;
const CONNECTIONS = 16;
/** Jobs of one worker at a time: enough to keep its core busy while some of them wait for the database. */
const SLOTS = 8;
/** The kernel counts CPU time in ticks of 10 ms. */
const TICKS_A_SECOND = 100;

const JOBS = '/v1/subtitle-translations';
const LINES = { type: 'lines', lines: [{ index: 1, start_ms: 0, end_ms: 900, text: 'Good morning.' }] };
const CREATE: Unsigned = {
  method: 'POST',
  path: JOBS,
  body: { subtitle: LINES, source_language: 'en', target_language: 'es' },
};

/** A figure of a load with the CPU seconds that it took, per operation. */
interface Measured {
  readonly perSecond: number;
  readonly node: number;
  readonly database: number;
  /** Seconds for which the lock of transactions was held, per operation. */
  readonly locked: number;
}

interface Cluster {
  readonly server: PostgresServer;
  readonly database: string;
  readonly stateDir: string;
}

export async function measureScale(isShort: boolean): Promise<readonly Figure[]> {
  const size = isShort ? SHORT : FULL;
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  const server = startPostgres({ isDurable: true });
  try {
    const figures: Figure[] = [];
    const alone = { server, database: '', stateDir: join(folder, 'alone') };
    const { reads, creates } = await measureApi(alone, 1, size);
    const jobs = await measureWorkers(alone, 1);
    figures.push(
      {
        name: 'signed GET of a job per second, one process with SQLite',
        value: reads.perSecond,
        unit: '',
        plausible: ANY_RATE,
      },
      {
        name: 'jobs created per second, one process with SQLite',
        value: creates.perSecond,
        unit: '',
        plausible: ANY_RATE,
      },
      {
        name: 'jobs done per second, one process with SQLite',
        value: jobs.perSecond,
        unit: '',
        plausible: ANY_RATE,
      },
    );
    const runs: { reads: Measured; creates: Measured; jobs: Measured }[] = [];
    for (const count of size.nodes) {
      const cluster = { server, database: freshAccount(server), stateDir: join(folder, `state-${count}`) };
      const { reads, creates } = await measureApi(cluster, count, size);
      const jobs = await measureWorkers(cluster, count);
      runs.push({ reads, creates, jobs });
      figures.push(
        {
          name: `signed GET of a job per second, ${count} API nodes`,
          value: reads.perSecond,
          unit: '',
          plausible: ANY_RATE,
        },
        {
          name: `jobs created per second, ${count} API nodes`,
          value: creates.perSecond,
          unit: '',
          plausible: ANY_RATE,
        },
        {
          name: `jobs done per second, ${count} workers`,
          value: jobs.perSecond,
          unit: '',
          plausible: ANY_RATE,
        },
      );
    }
    const costs = costsOf(runs, await measureUpkeep(server, size.seconds));
    return [...figures, ...describeCosts(costs), ...compareModel(costs, runs)];
  } finally {
    server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureApi(
  cluster: Cluster,
  count: number,
  size: Size,
): Promise<{ reads: Measured; creates: Measured }> {
  const nodes = await startNodes(cluster, count, 0);
  try {
    await load(nodes, CREATE, size.warmUp);
    const creates = await measure(cluster.server, nodes, size.creates, () =>
      load(nodes, CREATE, size.creates),
    );
    const [job] = await load(nodes, CREATE, 1);
    const read: Unsigned = { method: 'GET', path: `${JOBS}/${JSON.parse(String(job?.body)).id}` };
    await load(nodes, read, size.warmUp);
    const reads = await measure(cluster.server, nodes, size.reads, () => load(nodes, read, size.reads));
    return { reads, creates };
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
  }
}

/** The jobs that the API nodes have left in the queue. */
async function measureWorkers({ server, database, stateDir }: Cluster, count: number): Promise<Measured> {
  const watch = database === '' ? openFileWatch(stateDir) : await openWatch(database);
  const nodes = await startNodes({ server, database, stateDir }, count, SLOTS);
  try {
    // From the moment when all of them work: starting them is not measured.
    const before = await watch.open();
    const result = await measure(server, nodes, before, async () => {
      while ((await watch.open()) > 0) await sleep(50);
    });
    return result;
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
    await watch.end();
  }
}

function startNodes(cluster: Cluster, count: number, workers: number): Promise<RunningService[]> {
  const { stateDir, database } = cluster;
  return Promise.all(Array.from({ length: count }, () => startService(stateDir, { database, workers })));
}

/** Sends a request many times, to each node in turn. */
async function load(
  nodes: readonly RunningService[],
  request: Unsigned,
  count: number,
): Promise<readonly Reply[]> {
  const each = Math.ceil(count / nodes.length);
  const answers = await Promise.all(
    nodes.map(async ({ port, target }) => {
      const connections = await openConnections(port, Math.ceil(CONNECTIONS / nodes.length));
      const bytes = Array.from({ length: each }, () => signedBytes(target, request));
      const { replies } = await connections.send(bytes);
      connections.close();
      return replies;
    }),
  );
  const replies = answers.flat();
  const wrong = replies.find(({ status }) => status !== 200 && status !== 202);
  if (wrong !== undefined) throw new Error(`a request was refused:\n${wrong.head}\n\n${wrong.body}`);
  return replies;
}

/** Runs work of so many operations. */
async function measure(
  server: PostgresServer,
  nodes: readonly RunningService[],
  count: number,
  work: () => Promise<unknown>,
): Promise<Measured> {
  const nodeTicks = () => nodes.reduce((sum, node) => sum + node.cpuTicks(), 0);
  const before = { nodes: nodeTicks(), database: serverTicks(server) };
  const lock = await watchLock(server.url);
  const begin = performance.now();
  await work();
  const seconds = (performance.now() - begin) / 1000;
  const share = await lock.end();
  const cpu = (ticks: number) => ticks / TICKS_A_SECOND / count;
  return {
    perSecond: count / seconds,
    node: cpu(nodeTicks() - before.nodes),
    database: cpu(serverTicks(server) - before.database),
    locked: (share * seconds) / count,
  };
}

/** A fleet in which every worker has its slots full. */
const WORKERS_OF_FLEET = 292;

/** CPU seconds of the database for one worker in one second: its searches, renewals and signs of life. */
async function measureUpkeep(server: PostgresServer, seconds: number): Promise<number> {
  const store = await openPostgresAccount(freshAccount(server), null, Date.now);
  await store.run(
    `INSERT INTO keys (id, secret, webhook_secret, permissions, allowed_addresses, created_at)
     SELECT 'vk_' || number, '', '', '', '', 0 FROM generate_series(0, 19) AS number`,
  );
  await store.run(
    `INSERT INTO jobs (id, key_id, kind, status, created_at, updated_at, input, request, lease_owner, lease_until)
     SELECT 'job' || number, 'vk_' || number % 20, 'dubbing', 'processing', number, 0, repeat('x', 300), repeat('x', 300),
       'worker' || number / ${SLOTS}, ? FROM generate_series(0, ${WORKERS_OF_FLEET * SLOTS - 1}) AS number`,
    Date.now() + 3_600_000,
  );
  await store.run('ANALYZE');
  const queues = [OPEN_JOBS, OPEN_VALIDATIONS, PENDING] as const;
  const workers = Array.from({ length: WORKERS_OF_FLEET }, (_, at) =>
    queues.map((rows) => createLeases(store, rows, `worker${at}`)),
  );
  const before = serverTicks(server);
  for (let second = 0; second < seconds; second += 1) {
    const at = second % WORKERS_OF_FLEET;
    const leases = workers[at] ?? [];
    for (const each of leases) await each.claim(Date.now(), true, []);
    const ids = Array.from({ length: SLOTS }, (_, slot) => `job${at * SLOTS + slot}`);
    if ((second * 1000) % RENEW_MS < 1000) await leases[0]?.renew(ids, Date.now());
    if (second % 5 === 0)
      await store.run(
        `INSERT INTO nodes (id, role, version, host, running, started_at, seen_at) VALUES (?, 'worker', '', '', 0, 0, 0)
         ON CONFLICT (id) DO UPDATE SET seen_at = nodes.seen_at + 1`,
        `worker${at}`,
      );
  }
  const ticks = serverTicks(server) - before;
  await store.close();
  return ticks / TICKS_A_SECOND / seconds;
}

/** CPU time of the server with all its children, also those that have ended. */
function serverTicks(server: PostgresServer): number {
  const pid = server.pid();
  let ticks = 0;
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    let fields: string[];
    try {
      fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    } catch {
      continue; // it has just ended
    }
    const [, parent = ''] = fields;
    const times =
      Number(name) === pid ? fields.slice(11, 15) : Number(parent) === pid ? fields.slice(11, 13) : [];
    ticks += times.reduce((sum, each) => sum + Number(each), 0);
  }
  return ticks;
}

/** Rare, because each look takes CPU time. */
const LOOK_EVERY_MS = 20;

/** Looks again and again whether the lock of transactions is held. `end` returns the share of the looks at which it was. */
async function watchLock(url: string): Promise<{ end(): Promise<number> }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  let looks = 0;
  let held = 0;
  let over = false;
  const watching = (async () => {
    while (!over) {
      const { rowCount } = await client.query(
        `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND granted`,
      );
      looks += 1;
      if (rowCount !== 0) held += 1;
      await sleep(LOOK_EVERY_MS);
    }
  })();
  return {
    async end() {
      over = true;
      await watching;
      await client.end();
      return held / looks;
    },
  };
}

/** Counts the jobs that are not done. */
interface Watch {
  open(): Promise<number>;
  end(): Promise<void>;
}

function openFileWatch(stateDir: string): Watch {
  const store = new DatabaseSync(storePath(stateDir), { readOnly: true });
  const count = store.prepare(`SELECT count(*) AS open FROM jobs WHERE status IN ('queued', 'processing')`);
  return { open: async () => Number(count.get()?.open), end: async () => store.close() };
}

async function openWatch(database: string): Promise<Watch> {
  const schema = new URL(database).searchParams.get('schema');
  const client = new pg.Client({ connectionString: database.replace(/&schema=\w+/, '') });
  await client.connect();
  return {
    async open() {
      const { rows } = await client.query<{ open: string }>(
        `SELECT count(*) AS open FROM ${schema}.jobs WHERE status IN ('queued', 'processing')`,
      );
      return Number(rows[0]?.open);
    },
    end: () => client.end(),
  };
}

type Runs = readonly { readonly reads: Measured; readonly creates: Measured; readonly jobs: Measured }[];

/** Means over all runs: CPU time hardly depends on how busy the machine is. */
function costsOf(runs: Runs, upkeep: number): Costs {
  const mean = (value: (run: Runs[number]) => number) =>
    runs.reduce((sum, run) => sum + value(run), 0) / runs.length;
  return {
    api: { create: mean(({ creates }) => creates.node), read: mean(({ reads }) => reads.node) },
    worker: { job: mean(({ jobs }) => jobs.node) },
    database: {
      create: mean(({ creates }) => creates.database),
      job: mean(({ jobs }) => jobs.database),
      read: mean(({ reads }) => reads.database),
      upkeep,
    },
    transactions: { create: mean(({ creates }) => creates.locked), job: mean(({ jobs }) => jobs.locked) },
  };
}

/** The kernel counts CPU time in 10 ms, and the lock is looked at every 20 ms, so a few operations may seem to cost nothing. */
const COST_MS = [0, 10_000] as const;

function describeCosts({ api, worker, database, transactions }: Costs): Figure[] {
  const row = (name: string, seconds: number): Figure => ({
    name,
    value: 1000 * seconds,
    unit: 'ms',
    plausible: COST_MS,
  });
  return [
    row('CPU time of an API node: created job', api.create),
    row('the same: signed GET', api.read),
    row('CPU time of a worker: job without media work', worker.job),
    row('CPU time of PostgreSQL: created job', database.create),
    row('the same: job taken and finished', database.job),
    row('the same: signed GET', database.read),
    row('the same: each second of a worker with 8 jobs, among 292 such workers', database.upkeep),
    row('lock of transactions held: created job', transactions.create),
    row('the same: job taken and finished', transactions.job),
  ];
}

const NO_MEDIA: Load = { readsPerJob: 0, mediaCpuSeconds: 0, jobSeconds: 0 };
/**
 * A minute of video with the built-in engines on two cores, read every 10 s: 0.67 of its length in CPU time, 0.4 of it until it is
 * done. Source: the figures of one video in bench/README.md.
 */
const VIDEO: Load = { readsPerJob: 3, mediaCpuSeconds: 40, jobSeconds: 24 };
/** Plenty, so that the machines are the limit. */
const SLOTS_OF_FLEET = 100_000;

/** How far the model is from what was measured here, and what it says about machines that are not here. */
function compareModel(costs: Costs, runs: Runs): Figure[] {
  const cores = availableParallelism();
  // The jobs were created before.
  const alone: Costs = {
    ...costs,
    api: { create: 0, read: 0 },
    database: { ...costs.database, create: 0 },
    transactions: { ...costs.transactions, create: 0 },
  };
  const jobs = predictOnOneMachine(alone, cores, NO_MEDIA);
  const fleet = { apiNodes: 2, workerCores: 8, databaseCores: 4 };
  const figures: Figure[] = runs.map((run, at) => ({
    name: `jobs per second, measured ÷ predicted for these cores, ${at === 0 ? 1 : 2 ** at} workers`,
    value: run.jobs.perSecond / jobs,
    unit: '×' as const,
    plausible: [0.01, 10] as const,
  }));
  for (const workers of [1, 10, 100]) {
    const { jobsPerSecond, saturated } = predict(costs, { ...fleet, workers, slots: SLOTS_OF_FLEET }, VIDEO);
    figures.push({
      name: `predicted: minutes of video per hour with ${workers} machines of 8 cores (saturated: ${saturated})`,
      value: 3600 * jobsPerSecond,
      unit: '',
      plausible: [1, 1e9],
    });
  }
  figures.push({
    name: 'predicted: machines of 8 cores that two API nodes and a database with 4 cores keep busy',
    value: mostWorkers(costs, fleet, VIDEO),
    unit: '',
    plausible: [1, 1e9],
  });
  return figures;
}
