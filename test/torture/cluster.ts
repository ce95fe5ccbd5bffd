/** Kills nodes of a service, and the PostgreSQL server that they share, and lets other faults happen, while callers create jobs. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresStore, type PostgresStore } from '../../src/service/store/postgres-store.ts';
import type { Caller, Reply } from '../service/harness/caller.ts';
import { freshAccount, type PostgresServer, startPostgres } from '../support/postgres.ts';
import {
  type ClusterFault,
  type DatabaseLine,
  FAULTS,
  type FaultyCluster,
  openLine,
  POOLER_PROGRAM,
  type Pooler,
  startPooler,
} from './cluster-faults.ts';
import {
  CLUSTER_MOMENTS,
  type ClusterNode,
  type ClusterRole,
  type Route,
  startNode,
} from './cluster-orders.ts';
import { createRandom, type Random } from './random.ts';

export interface ClusterPlan {
  /** Kills of nodes: API, worker, and worker while it finishes a job, in turn. */
  readonly kills: number;
  /** Kills of the database server. */
  readonly databaseKills: number;
  /** Faults that happen after the kills, in turn. */
  readonly faults: readonly ClusterFault[];
  /** How often each fault happens. */
  readonly rounds: number;
  readonly seed: number;
  readonly tell: (line: string) => void;
}

export interface ClusterReport {
  readonly counts: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
}

const API_NODES = 2;
const WORKERS = 3;
const CALLERS = 2;
const OPEN_JOBS = 40;
/** Source: the requirements of scale-out. */
const TAKEOVER_MS = 15_000;
const RECOVERY_MS = 10_000;
/** Many times what the jobs of a run need that are still open at its end. */
const SETTLED_MS = 120_000;

const PATH = '/v1/subtitle-translations';

interface World {
  readonly plan: ClusterPlan;
  readonly random: Random;
  readonly server: PostgresServer;
  readonly store: PostgresStore;
  readonly nodes: ClusterNode[];
  /** Starts a node, and another one whenever it ends. */
  start(role: ClusterRole, route: Route): void;
  /** Resolves when nodes of the role may be replaced. */
  readonly held: Map<ClusterRole, Promise<void>>;
  readonly line: DatabaseLine | null;
  readonly pooler: Pooler | null;
  /** Ids of accepted jobs by their Idempotency-Key. */
  readonly accepted: Map<string, string>;
  readonly counts: Record<string, number>;
  readonly violations: string[];
  /** Leases of dead workers, by job. */
  readonly abandoned: Map<string, { readonly owner: string; readonly since: number }>;
  readonly takeovers: number[];
  /** True while the database is down on purpose. */
  isDown: boolean;
  over: boolean;
  /** True when nodes that end are not replaced. */
  isClosing: boolean;
}

export async function runCluster(plan: ClusterPlan): Promise<ClusterReport> {
  const root = mkdtempSync(join(tmpdir(), 'vloc-cluster-'));
  const server = startPostgres();
  const world = await openWorld(plan, server, root);
  try {
    for (let count = 0; count < API_NODES; count += 1) world.start('api', 'direct');
    for (let count = 0; count < WORKERS; count += 1) world.start('worker', 'direct');
    if (world.line !== null) for (const role of ['api', 'worker'] as const) world.start(role, 'black-hole');
    if (world.pooler !== null) world.start('worker', 'pooler');
    if (plan.faults.includes('disk')) world.start('worker', 'small-disk');
    await Promise.all(world.nodes.map(({ ready }) => ready));
    const callers = Array.from({ length: CALLERS }, (_, at) => runCaller(world, at));
    const watch = watchTakeovers(world);
    for (let done = 1; done <= plan.kills; done += 1) {
      await killNode(world, done);
      if (done % 20 === 0) plan.tell(`  ${done} kills, ${world.accepted.size} jobs accepted`);
    }
    for (let done = 1; done <= plan.databaseKills; done += 1) {
      await killDatabase(world);
      if (done % 5 === 0) plan.tell(`  ${done} kills of the database, ${world.accepted.size} jobs accepted`);
    }
    for (let round = 1; round <= plan.rounds; round += 1) {
      for (const fault of plan.faults) {
        await FAULTS[fault](faultyCluster(world));
        world.counts[fault] = (world.counts[fault] ?? 0) + 1;
        await untilRecovered(world);
        await untilAllWork(world, fault);
        plan.tell(`  ${fault}, ${world.accepted.size} jobs accepted, ${world.violations.length} violations`);
      }
    }
    world.over = true;
    await Promise.all(callers);
    await settle(world);
    await watch;
    await audit(world);
    const { counts, violations, takeovers } = world;
    const slowest = Math.max(0, ...takeovers);
    return {
      counts: {
        ...counts,
        jobs: world.accepted.size,
        takeovers: takeovers.length,
        slowestTakeoverMs: slowest,
      },
      violations,
    };
  } finally {
    world.over = true;
    world.isClosing = true;
    await Promise.all(world.nodes.map((node) => node.kill()));
    await world.store.close();
    await world.pooler?.stop();
    world.line?.close();
    server.stop();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function openWorld(plan: ClusterPlan, server: PostgresServer, root: string): Promise<World> {
  const database = freshAccount(server);
  const schema = new URL(database).searchParams.get('schema') ?? '';
  const url = database.replace(/&schema=\w+/, '');
  const socket = new URL(url).searchParams.get('host') ?? '';
  const line = plan.faults.includes('black-hole') ? await openLine(socket) : null;
  if (plan.faults.includes('pooler') && !existsSync(POOLER_PROGRAM))
    throw new Error('PgBouncer is not installed');
  const pooler = plan.faults.includes('pooler') ? await startPooler(root, socket) : null;
  const ports = {
    'black-hole': line?.port,
    pooler: pooler?.port,
    direct: undefined,
    'small-disk': undefined,
  };
  const databaseFor = (route: Route) =>
    ports[route] === undefined
      ? database
      : `postgres://vloc:secret@127.0.0.1:${ports[route]}/postgres?schema=${schema}`;
  const orders = { stateDir: join(root, 'state'), openJobs: OPEN_JOBS };
  const nodes: ClusterNode[] = [];
  const world: World = {
    plan,
    random: createRandom(plan.seed),
    server,
    store: openPostgresStore({ url, schema }),
    nodes,
    line,
    pooler,
    held: new Map(),
    start(role, route) {
      const node = startNode({ ...orders, role, database: databaseFor(route) }, route);
      nodes.push(node);
      // As a supervisor does, also for a node that gave up because it found no database.
      void node.ended.then(async () => {
        nodes.splice(nodes.indexOf(node), 1);
        await world.held.get(role);
        if (!world.isClosing) world.start(role, route);
      });
    },
    accepted: new Map(),
    counts: { api: 0, worker: 0, finishing: 0, database: 0, refusals: 0, slowestRecoveryMs: 0 },
    violations: [],
    abandoned: new Map(),
    takeovers: [],
    isDown: false,
    over: false,
    isClosing: false,
  };
  return world;
}

const pause = ({ random }: World, low: number, high: number) => sleep(random.between(low, high));

/** Callers of the API nodes that live. */
const apiCallers = ({ nodes }: World): Caller[] =>
  nodes.flatMap((node) => (node.role === 'api' ? (node.caller() ?? []) : []));

function anyCaller(world: World): Caller | null {
  const callers = apiCallers(world);
  return callers.length === 0 ? null : world.random.pick(callers);
}

/** Creates jobs, each until it is accepted: a caller that gets no answer sends the same request again. */
async function runCaller(world: World, number: number): Promise<void> {
  for (let turn = 0; !world.over; turn += 1) {
    const key = `intent-${number}-${turn}`;
    const lines = [{ index: 1, start_ms: 0, end_ms: 900, text: `The house ${key} is red` }];
    const body = { subtitle: { type: 'lines', lines }, source_language: 'en', target_language: 'es' };
    while (!world.accepted.has(key)) {
      const reply = await tryOnce(() => anyCaller(world)?.post(PATH, body, key));
      if (reply?.status === 202) world.accepted.set(key, reply.json.id);
      else if (reply !== null) judgeRefusal(world, reply);
      await pause(world, 50, 200);
    }
    await pause(world, 50, 300);
  }
}

/** Longer than any answer, so that a caller of a node that hangs asks another one. */
const ANSWER_MS = 60_000;

/** Null for a request that a kill has cut off, or that gets no answer. */
async function tryOnce(ask: () => Promise<Reply> | undefined): Promise<Reply | null> {
  try {
    return (await Promise.race([ask(), sleep(ANSWER_MS, null, { ref: false })])) ?? null;
  } catch {
    return null;
  }
}

function judgeRefusal({ counts, violations }: World, { status, headers, bytes }: Reply): void {
  counts.refusals = (counts.refusals ?? 0) + 1;
  const isPassing = (status === 503 || status === 429) && headers['retry-after'] !== undefined;
  if (!isPassing) violations.push(`a create request was answered with ${status}: ${bytes}`);
}

async function killNode(world: World, turn: number): Promise<void> {
  const { counts, random, nodes } = world;
  const kind = (['api', 'worker', 'finishing'] as const)[turn % 3] ?? 'api';
  const role = kind === 'api' ? 'api' : 'worker';
  await pause(world, 200, 1200);
  // All of them work, so that there is one to take over.
  const candidates = nodes.filter((node) => node.role === role);
  await Promise.all(candidates.map(({ ready }) => ready));
  const victim = random.pick(candidates);
  if (kind === 'finishing') {
    victim.dieAt(random.pick(CLUSTER_MOMENTS));
    await victim.ended;
  } else {
    await victim.kill();
  }
  counts[kind] = (counts[kind] ?? 0) + 1;
  await abandon(world, victim);
}

/** Notes the jobs that others must take over from a node. */
async function abandon(world: World, victim: ClusterNode): Promise<number> {
  const since = Date.now();
  const held = await heldBy(world, victim);
  for (const { id, owner } of held) world.abandoned.set(id, { owner, since });
  return held.length;
}

const heldBy = ({ store }: World, { pid }: ClusterNode) =>
  store.all<{ id: string; owner: string }>(
    `SELECT id, lease_owner AS owner FROM jobs WHERE status IN ('queued', 'processing') AND lease_owner LIKE ?`,
    `${pid}-%`,
  );

function faultyCluster(world: World): FaultyCluster {
  const { random, violations, nodes, line, pooler, held } = world;
  return {
    random,
    violations,
    nodes,
    line,
    pooler,
    accepted: () => world.accepted.size,
    abandon: (node) => abandon(world, node),
    countJobs: async (node) => (await heldBy(world, node)).length,
    hold(role) {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.set(role, promise);
      return () => {
        held.delete(role);
        resolve();
      };
    },
  };
}

/** Notes how long the jobs of dead workers wait for another one. */
async function watchTakeovers(world: World): Promise<void> {
  const { abandoned, takeovers, violations, store } = world;
  while (!world.over || abandoned.size > 0) {
    await sleep(50);
    if (abandoned.size === 0 || world.isDown) continue;
    const ids = [...abandoned.keys()];
    const rows = await store
      .all<{ id: string; owner: string | null }>(
        `SELECT id, lease_owner AS owner FROM jobs WHERE id IN (${ids.map(() => '?').join(', ')})`,
        ...ids,
      )
      .catch(() => []);
    for (const { id, owner } of rows) {
      const lease = abandoned.get(id);
      if (lease === undefined || owner === lease.owner) continue;
      abandoned.delete(id);
      const waited = Date.now() - lease.since;
      takeovers.push(waited);
      if (waited > TAKEOVER_MS) violations.push(`${id} waited ${waited} ms for another worker`);
    }
  }
}

/** Kills the server and, as the system would, starts it again. */
async function killDatabase(world: World): Promise<void> {
  const { counts, violations, server } = world;
  await pause(world, 500, 1500);
  world.isDown = true;
  process.kill(server.pid(), 'SIGKILL');
  counts.database = (counts.database ?? 0) + 1;
  // Its children end when they see that it is gone.
  await sleep(1000);
  for (const caller of apiCallers(world)) {
    const reply = await tryOnce(() => caller.get('/v1/credits'));
    if (reply?.status !== 503 || reply.headers['retry-after'] === undefined) {
      violations.push(`a request without a database was answered with ${reply?.status ?? 'nothing'}`);
    }
  }
  await startAgain(server);
  const startedAt = Date.now();
  world.isDown = false;
  // What waited for the database is not the fault of the worker that holds it.
  const held = [...world.abandoned];
  for (const [id, { owner }] of held) world.abandoned.set(id, { owner, since: startedAt });
  await untilRecovered(world);
  const recovery = Date.now() - startedAt;
  counts.slowestRecoveryMs = Math.max(counts.slowestRecoveryMs ?? 0, recovery);
  if (recovery > RECOVERY_MS)
    violations.push(`requests were refused for ${recovery} ms after the database was back`);
}

async function startAgain(server: PostgresServer): Promise<void> {
  for (let left = 100; ; left -= 1) {
    try {
      server.start();
      return;
    } catch (error) {
      // Until the last of the children has ended.
      if (left === 0) throw error;
      await sleep(100);
    }
  }
}

/** Until all API nodes answer, and a worker has done a job. */
async function untilRecovered(world: World): Promise<void> {
  const end = Date.now() + SETTLED_MS;
  const wait = async (isDone: () => Promise<boolean>) => {
    while (!(await isDone()) && Date.now() < end) await sleep(50);
  };
  const countDone = async () =>
    (await world.store.get<{ done: number }>(`SELECT count(*) AS done FROM jobs WHERE status = 'succeeded'`))
      ?.done ?? 0;
  let before: number | null = null;
  await wait(async () => {
    before = await countDone().catch(() => null);
    return before !== null;
  });
  for (const caller of apiCallers(world)) {
    await wait(async () => (await tryOnce(() => caller.get('/v1/credits')))?.status === 200);
  }
  await wait(async () => (await countDone().catch(() => 0)) > (before ?? 0));
}

/** Until all nodes work: those that gave up were replaced. */
async function untilAllWork({ nodes, violations }: World, fault: ClusterFault): Promise<void> {
  const end = Date.now() + SETTLED_MS;
  const idle = () => nodes.filter((node) => !node.isWorking());
  while (idle().length > 0 && Date.now() < end) await sleep(50);
  for (const { role, route } of idle())
    violations.push(`after the fault ${fault}, a node (${role}, ${route}) does not work`);
}

/** Waits until all accepted jobs have ended. */
async function settle({ store, violations }: World): Promise<void> {
  const end = Date.now() + SETTLED_MS;
  for (;;) {
    const open = await store.get<{ open: number }>(
      `SELECT count(*) AS open FROM jobs WHERE status IN ('queued', 'processing')`,
    );
    if (open?.open === 0) return;
    if (Date.now() > end) {
      violations.push(`${open?.open} jobs did not end`);
      return;
    }
    await sleep(100);
  }
}

/** Compares the answers to callers with the account. */
async function audit({ store, accepted, violations }: World): Promise<void> {
  const jobs = new Map(
    (await store.all<{ id: string; status: string }>('SELECT id, status FROM jobs')).map((row) => [
      row.id,
      row.status,
    ]),
  );
  for (const id of accepted.values()) {
    if (jobs.get(id) !== 'succeeded') violations.push(`${id} was accepted and is ${jobs.get(id) ?? 'lost'}`);
  }
  const ids = new Set(accepted.values());
  if (ids.size !== accepted.size) violations.push('two intents were answered with the same job');
  // The run has ended when each intent was answered.
  if (jobs.size !== ids.size) violations.push(`${jobs.size} jobs are stored for ${ids.size} intents`);
  const charges = await store.all<{ job: string; amount: number }>(
    'SELECT job_id AS job, amount FROM ledger WHERE job_id IS NOT NULL',
  );
  if (charges.length !== ids.size) violations.push(`${ids.size} jobs have ${charges.length} charges`);
  for (const { job, amount } of charges) {
    if (!ids.has(job) || amount !== -1000) violations.push(`${job} was charged ${amount}`);
  }
  const sums = await store.get<{ ledger: number; remaining: number; reserved: number }>(
    `SELECT (SELECT sum(amount) FROM ledger) AS ledger, (SELECT sum(remaining) FROM grants) AS remaining,
       (SELECT count(*) FROM bills WHERE status = 'reserved') AS reserved`,
  );
  if (sums?.ledger !== sums?.remaining || sums?.reserved !== 0) {
    violations.push(`the sums differ: ${JSON.stringify(sums)}`);
  }
}
