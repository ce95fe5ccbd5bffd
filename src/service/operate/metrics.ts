/** Metrics in the text format of Prometheus. Loaded only if metrics are served. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import { JOB_STATUSES, UPLOAD_STATUSES } from '../../protocol/states.ts';
import type { ServiceContext } from '../context.ts';
import { type Account, readAccount, toCredits } from '../credits/account.ts';
import type { RequestRecord } from '../log.ts';
import type { Statements } from '../store/store.ts';

interface Metrics {
  readonly contentType: string;
  observe(record: RequestRecord): void;
  /** Reads the store and returns all metrics as text. */
  collect(): Promise<string>;
}

/** From a read of the store to a slow body of 12 MiB. Uploads and downloads fall into the last bucket. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Creates the metrics of one service. Several services in one process have separate metrics. */
export function createMetrics(context: ServiceContext): Metrics {
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
  addStoreGauges(context, registry);
  return {
    contentType: registry.contentType,
    observe({ operationId, template, method, status, durationMs }) {
      // Unknown paths share one name, so that callers cannot create an unlimited number of series.
      const operation = operationId ?? template ?? 'none';
      requests.inc({ operation, method: template === null ? 'any' : method, status: String(status ?? 0) });
      durations.observe({ operation }, durationMs / 1000);
    },
    collect: () => registry.metrics(),
  };
}

/** Adds the gauges of jobs, uploads and credits. */
function addStoreGauges({ store, clock }: Pick<ServiceContext, 'store' | 'clock'>, registry: Registry): void {
  const registers = [registry];
  addJobGauges(store, registers);
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
  new Gauge({
    name: 'vloc_job_queue_length',
    help: 'Jobs that wait for a worker.',
    registers,
    async collect() {
      this.set(await countOf(store, `SELECT count(*) AS count FROM jobs WHERE status = 'queued'`));
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

async function countOf(store: Statements, sql: string): Promise<number> {
  return (await store.get<{ count: number }>(sql))?.count ?? 0;
}
