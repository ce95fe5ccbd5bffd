/** Metrics in the text format of Prometheus. Loaded only if metrics are served. */

import { hostname } from 'node:os';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import packageFile from '../../../package.json' with { type: 'json' };
import { orAborted } from '../../base/together.ts';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import { toCredits } from '../../protocol/metering.ts';
import { ROLES } from '../../protocol/roles.ts';
import { JOB_STATUSES, UPLOAD_STATUSES } from '../../protocol/states.ts';
import type { ServiceContext } from '../context.ts';
import { type Account, readAccount } from '../credits/account.ts';
import { OPEN_STATUSES } from '../job-statuses.ts';
import type { RequestRecord } from '../log.ts';
import { isLive, readNodes } from '../nodes.ts';
import type { Statements } from '../store/store.ts';
import { withDeadline } from '../time-limits.ts';
import { DISK_FULL, OK, type Readiness } from './health.ts';

interface Metrics {
  readonly contentType: string;
  observe(record: RequestRecord): void;
  /** Returns all metrics as text; those of the store are missing while it cannot be read. Never throws. */
  collect(): Promise<string>;
}

/** From a read of the store to a slow body of 12 MiB. Uploads and downloads fall into the last bucket. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Creates the metrics of one service. Several services in one process have separate metrics.
 * @param check of the pages of health, which say the same
 */
export function createMetrics(context: ServiceContext, check: () => Promise<Readiness>): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'vloc_requests_total',
    help: 'Requests by operation, or by path for requests that are not an operation; status 0: the caller disconnected.',
    labelNames: ['operation', 'method', 'status'] as const,
    registers,
  });
  const durations = new Histogram({
    name: 'vloc_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer.',
    labelNames: ['operation'] as const,
    buckets: DURATION_BUCKETS,
    registers,
  });
  addOwnMetrics(context, registers);
  const readStore = createStoreReader(context);
  const databaseUp = new Gauge({
    name: 'vloc_database_up',
    help: 'Whether the store can be read and written: 1 or 0.',
    registers,
  });
  const hasRoom = new Gauge({
    name: 'vloc_node_has_room',
    help: '0 while the disk of this process is full, so that it takes no job.',
    registers,
  });
  return {
    contentType: registry.contentType,
    observe({ operationId, template, method, status, durationMs }) {
      // Unknown paths share one name, so that callers cannot create an unlimited number of series.
      const operation = operationId ?? template ?? 'none';
      requests.inc({ operation, method: template === null ? 'any' : method, status: String(status ?? 0) });
      durations.observe({ operation }, durationMs / 1000);
    },
    async collect() {
      const [stored, { database, storage }] = await Promise.all([readStore(), check()]);
      databaseUp.set(stored !== null && database === OK ? 1 : 0);
      hasRoom.set(storage === DISK_FULL ? 0 : 1);
      return (await registry.metrics()) + (stored ?? '');
    },
  };
}

/** How long the metrics of the store may take: well within the 10 s of Prometheus. */
const STORE_MS = 3000;

/** Creates the reader of the metrics of the store. It returns null if the store does not answer. */
function createStoreReader(context: ServiceContext): () => Promise<string | null> {
  const { clock, log } = context;
  const registry = new Registry();
  addStoreGauges(context, registry);
  /** There is one at a time, so that a database that hangs is not asked more and more. */
  let running: Promise<string> | null = null;
  return async () => {
    running ??= registry.metrics().finally(() => {
      running = null;
    });
    const reading = running;
    const { signal } = new AbortController();
    const limit = { clock, ms: STORE_MS, failure: new Error('no answer'), signal };
    try {
      return await withDeadline(limit, (expired) => orAborted(reading, expired));
    } catch (error) {
      log({ level: 'warn', message: 'the metrics of the store are missing', error });
      return null;
    }
  };
}

/** Adds what this process alone does. The names begin with `vloc_node_`: these may be summed over all nodes. */
function addOwnMetrics({ activity, role }: ServiceContext, registers: Registry[]): void {
  new Gauge({
    name: 'vloc_node_info',
    help: 'Always 1; the labels describe this process.',
    labelNames: ['node', 'role', 'version'],
    registers,
    collect() {
      this.set({ node: activity.node, role, version: packageFile.version }, 1);
    },
  });
  new Gauge({
    name: 'vloc_node_jobs_running',
    help: 'Jobs that this process carries out.',
    registers,
    collect() {
      this.set(activity.jobs().running);
    },
  });
  new Gauge({
    name: 'vloc_node_jobs_taken_over',
    help: 'Jobs that this process has taken over from others that died, since it started.',
    registers,
    collect() {
      this.set(activity.jobs().takenOver);
    },
  });
}

/** Adds the gauges of jobs, nodes, uploads and credits. They are read from the store, so all nodes show the same. */
function addStoreGauges(context: ServiceContext, registry: Registry): void {
  const { store, clock } = context;
  const registers = [registry];
  addJobGauges(store, registers);
  addQueueGauges(context, registers);
  addNodeGauges(context, registers);
  addUploadGauges(store, registers);
  addCreditGauges(store, () => readAccount(store, clock.now()), registers);
}

interface JobCount {
  readonly kind: string;
  readonly status: string;
  readonly count: number;
}

function addJobGauges(store: Statements, registers: Registry[]): void {
  new Gauge({
    name: 'vloc_jobs',
    help: 'Jobs on record, which are those of the last 7 days.',
    labelNames: ['kind', 'status'],
    registers,
    async collect() {
      const rows = await store.all<JobCount>(
        'SELECT kind, status, count(*) AS count FROM jobs GROUP BY kind, status',
      );
      // Kinds and statuses without jobs count as 0: a series that disappears cannot be monitored.
      for (const kind of JOB_KIND_NAMES) for (const status of JOB_STATUSES) this.set({ kind, status }, 0);
      for (const { kind, status, count } of rows) this.set({ kind, status }, count);
    },
  });
}

/** Jobs on which nobody works, also those of workers that died. The parameter is now. */
const WAITING = `FROM jobs WHERE status IN ${OPEN_STATUSES} AND (lease_owner IS NULL OR lease_until <= ?1)`;

function addQueueGauges({ store, clock }: ServiceContext, registers: Registry[]): void {
  new Gauge({
    name: 'vloc_job_queue_length',
    help: 'Jobs that wait for a worker.',
    registers,
    async collect() {
      this.set(await countOf(store, `SELECT count(*) AS count ${WAITING}`, clock.now()));
    },
  });
  new Gauge({
    name: 'vloc_job_oldest_waiting_seconds',
    help: 'Age of the oldest job that waits for a worker; 0 if none waits.',
    registers,
    async collect() {
      const now = clock.now();
      const oldest = `SELECT coalesce(min(created_at), ?1) AS count ${WAITING}`;
      this.set(Math.max(0, now - (await countOf(store, oldest, now))) / 1000);
    },
  });
  new Gauge({
    name: 'vloc_job_takeovers',
    help: 'How often processes died or were cut off while they worked on the jobs on record.',
    registers,
    async collect() {
      this.set(await countOf(store, 'SELECT coalesce(sum(crashes), 0) AS count FROM jobs'));
    },
  });
}

function addNodeGauges(
  { store, clock, isShared, role, activity }: ServiceContext,
  registers: Registry[],
): void {
  const readLive = async () => {
    const now = clock.now();
    if (isShared) return (await readNodes(store)).filter((node) => isLive(node, now));
    return [{ id: activity.node, role, host: hostname(), running: activity.jobs().running }];
  };
  new Gauge({
    name: 'vloc_nodes',
    help: 'Running nodes of the service by role; without a database, this process alone.',
    labelNames: ['role'],
    registers,
    async collect() {
      const live = await readLive();
      for (const each of ROLES) this.set({ role: each }, live.filter((node) => node.role === each).length);
    },
  });
  new Gauge({
    name: 'vloc_jobs_running',
    help: 'Jobs that each running node carries out, as last reported; workers have no page of their own.',
    labelNames: ['node', 'host', 'role'],
    registers,
    async collect() {
      this.reset();
      for (const node of await readLive()) {
        this.set({ node: node.id, host: node.host, role: node.role }, node.running);
      }
    },
  });
}

function addUploadGauges(store: Statements, registers: Registry[]): void {
  new Gauge({
    name: 'vloc_uploads',
    help: 'Uploads on record by status.',
    labelNames: ['status'],
    registers,
    async collect() {
      const rows = await store.all<{ status: string; count: number }>(
        'SELECT status, count(*) AS count FROM uploads GROUP BY status',
      );
      for (const status of UPLOAD_STATUSES) this.set({ status }, 0);
      for (const { status, count } of rows) this.set({ status }, count);
    },
  });
  new Gauge({
    name: 'vloc_upload_bytes',
    help: 'Bytes of uploads that are stored.',
    registers,
    async collect() {
      const sum =
        'SELECT coalesce(sum(size_bytes), 0) AS count FROM uploads WHERE file IS NOT NULL AND etag IS NOT NULL';
      this.set(await countOf(store, sum));
    },
  });
}

function addCreditGauges(store: Statements, read: () => Promise<Account>, registers: Registry[]): void {
  new Gauge({
    name: 'vloc_credits',
    help: 'Credits of the account: balance, reserved by open jobs, available for new ones.',
    labelNames: ['part'],
    registers,
    async collect() {
      const account = await read();
      this.set({ part: 'balance' }, toCredits(account.balance));
      this.set({ part: 'reserved' }, toCredits(account.reserved));
      this.set({ part: 'available' }, toCredits(account.available));
    },
  });
  new Gauge({
    name: 'vloc_ledger_credits',
    help: 'Sums of the ledger: granted and charged credits.',
    labelNames: ['side'],
    registers,
    async collect() {
      const sum = (condition: string) =>
        countOf(store, `SELECT coalesce(sum(amount), 0) AS count FROM ledger WHERE job_id IS ${condition}`);
      const granted = await sum('NULL');
      const charged = await sum('NOT NULL');
      this.set({ side: 'granted' }, toCredits(granted));
      this.set({ side: 'charged' }, toCredits(0 - charged));
    },
  });
}

async function countOf(store: Statements, sql: string, ...values: number[]): Promise<number> {
  return (await store.get<{ count: number }>(sql, ...values))?.count ?? 0;
}
