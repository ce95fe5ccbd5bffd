/** How many jobs a fleet of machines does, and what limits it, from the costs of one job that `npm run bench scale` measures. */

/** Costs of one operation, in seconds. */
export interface Costs {
  /** CPU time of an API process, which has one thread: to create a job, and to answer a signed GET. */
  readonly api: { readonly create: number; readonly read: number };
  /** CPU time of a worker for a job, without its media work. */
  readonly worker: { readonly job: number };
  /**
   * CPU time of the database: for a created job, for a job that a worker takes and finishes, for a GET; and in each second for one
   * worker, whose slots are all in use: renewals, searches for work, signs of life.
   */
  readonly database: {
    readonly create: number;
    readonly job: number;
    readonly read: number;
    readonly upkeep: number;
  };
  /** How long a created job, and one that is taken and finished, hold the lock by which transactions take turns. */
  readonly transactions: { readonly create: number; readonly job: number };
}

export interface Fleet {
  readonly apiNodes: number;
  readonly workers: number;
  /** Cores of a machine with a worker. */
  readonly workerCores: number;
  readonly databaseCores: number;
  /** The setting `concurrent_tasks`. */
  readonly slots: number;
}

export interface Load {
  /** How often a job is read until its results are downloaded. */
  readonly readsPerJob: number;
  /** CPU time of the media work of a job, in seconds. */
  readonly mediaCpuSeconds: number;
  /** How long a job occupies a slot after it has started, in seconds. */
  readonly jobSeconds: number;
}

type Component = 'workers' | 'slots' | 'api' | 'transactions' | 'database';

export interface Prediction {
  readonly jobsPerSecond: number;
  /** What is fully used first. */
  readonly saturated: Component;
  /** Jobs per second that each component alone would allow. */
  readonly limits: Readonly<Record<Component, number>>;
}

/** Predicts the throughput of a fleet whose components are on machines of their own. */
export function predict(costs: Costs, fleet: Fleet, load: Load): Prediction {
  const { api, worker, database, transactions } = costs;
  const { readsPerJob: reads } = load;
  const limits: Record<Component, number> = {
    workers: (fleet.workers * fleet.workerCores) / (worker.job + load.mediaCpuSeconds),
    slots: load.jobSeconds === 0 ? Number.POSITIVE_INFINITY : fleet.slots / load.jobSeconds,
    api: fleet.apiNodes / (api.create + reads * api.read),
    transactions: 1 / (transactions.create + transactions.job),
    database:
      Math.max(0, fleet.databaseCores - fleet.workers * database.upkeep) / databaseTime(database, reads),
  };
  const saturated = COMPONENTS.reduce((one, other) => (limits[other] < limits[one] ? other : one));
  return { jobsPerSecond: limits[saturated], saturated, limits };
}

/** In the order in which an operator can add to them; the first one of several equal ones is named. */
const COMPONENTS: readonly Component[] = ['workers', 'slots', 'api', 'transactions', 'database'];

/** CPU time of the database for a job from its creation to its end. */
function databaseTime({ create, job, read }: Costs['database'], reads: number): number {
  return create + job + reads * read;
}

/** Returns how many workers the other components can keep busy, with enough slots. */
export function mostWorkers(costs: Costs, fleet: Omit<Fleet, 'workers' | 'slots'>, load: Load): number {
  const { limits } = predict(costs, { ...fleet, workers: 1, slots: 1 }, load);
  const { api, transactions, workers: ofOne } = limits;
  const perWorker = ofOne * databaseTime(costs.database, load.readsPerJob) + costs.database.upkeep;
  return Math.floor(Math.min(Math.min(api, transactions) / ofOne, fleet.databaseCores / perWorker));
}

/** Predicts the throughput when everything shares the cores of one machine, with enough slots. */
export function predictOnOneMachine(costs: Costs, cores: number, load: Load): number {
  const { api, worker, database, transactions } = costs;
  const perRead = api.read + database.read;
  const perJob = api.create + database.create + worker.job + database.job + load.mediaCpuSeconds;
  const turns = 1 / (transactions.create + transactions.job);
  return Math.min(turns, cores / (perJob + load.readsPerJob * perRead));
}
