/** The work of a process besides its answers: jobs, validations, webhooks, the sweeper, and its place among the nodes. */

import type { ServiceContext } from './context.ts';
import { ENDED_STATUSES } from './job-statuses.ts';
import { startExecution } from './jobs/execution.ts';
import { failHopelessJobs, findObstacle } from './jobs/needs.ts';
import { announceNode } from './nodes.ts';
import { startDeliveries } from './outgoing/webhooks/deliveries.ts';
import { type CanDo, createLeases, type LeasedRows, nameOwner } from './running/leases.ts';
import { startSweeper } from './sweep.ts';
import { startValidation } from './uploads/validation.ts';

/** `open` is worded as in the indexes of the queue, which SQLite and PostgreSQL would not use otherwise. */
export const OPEN_JOBS: LeasedRows = {
  table: 'jobs',
  open: `status NOT IN ${ENDED_STATUSES}`,
  firstBy: 'created_at',
  needs: 'needs',
};
export const OPEN_VALIDATIONS: LeasedRows = {
  table: 'uploads',
  open: `status = 'validating'`,
  firstBy: 'created_at',
};

export interface BackgroundWork {
  /** Name of this process in leases. */
  readonly owner: string;
  /** Begins no more jobs and validations. Resolves when those that run have ended, or when the signal aborts. */
  finish(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/** Starts all background work: jobs, validations, webhooks and the sweeper. Resolves when jobs may run. */
export async function startBackground(context: ServiceContext): Promise<BackgroundWork> {
  const { store, signals } = context;
  const owner = nameOwner();
  const { activity } = context;
  activity.node = owner;
  const node = context.isShared ? await announce(context, owner) : null;
  activity.capabilities = () => node?.capabilities() ?? null;
  const ability = async (): Promise<CanDo> => {
    const capabilities = activity.capabilities();
    if (capabilities === null) return () => true;
    return (needs) => findObstacle(needs, capabilities) === null;
  };
  const jobLeases = createLeases(store, OPEN_JOBS, owner, ability);
  const uploadLeases = createLeases(store, OPEN_VALIDATIONS, owner);
  const stopSweeper = await startSweeper(context);
  const deliveries = startDeliveries(context, owner);
  const execution = startExecution(context, jobLeases, owner, () => deliveries.wake());
  activity.jobs = () => execution.count();
  const validation = startValidation(context, uploadLeases, owner);
  signals.on('jobQueued', () => execution.wake());
  signals.on('jobCancelled', (id) => {
    execution.drop(id);
    deliveries.wake();
  });
  signals.on('uploadCompleted', () => validation.wake());
  signals.on('webhookDue', () => deliveries.wake());
  activity.state = 'running';
  return {
    owner,
    async finish(signal) {
      // It never throws, and a database that hangs must not keep a second signal waiting.
      void node?.leave();
      await Promise.all([execution.finish(signal), validation.finish(signal)]);
    },
    async stop() {
      await Promise.all([execution.stop(), validation.stop(), stopSweeper()]);
      // Stopped last: jobs that end while the other workers stop may still create an event.
      await deliveries.stop();
      await node?.stop();
    },
  };
}

function announce(context: ServiceContext, id: string) {
  const runsJobs = context.config.workers > 0;
  return announceNode(context, {
    id,
    running: () => context.activity.jobs().running,
    capabilities: runsJobs ? async () => (await context.engines()).capabilities() : null,
    check: (watchedMs) => failHopelessJobs(context, watchedMs),
  });
}
