import type { ServiceContext } from '../context.ts';
import { startExecution } from '../jobs/execution.ts';
import { startDeliveries } from '../outgoing/webhooks/deliveries.ts';
import { startSweeper } from '../sweep.ts';
import { startValidation } from '../uploads/validation.ts';
import { createLeases, type LeasedRows } from './leases.ts';

const OPEN_JOBS: LeasedRows = {
  table: 'jobs',
  open: `status IN ('queued', 'processing')`,
  firstBy: 'created_at',
};
const OPEN_VALIDATIONS: LeasedRows = {
  table: 'uploads',
  open: `status = 'validating'`,
  firstBy: 'created_at',
};

/**
 * Starts all background work: jobs, validations, webhooks and the sweeper.
 * @param owner of this process's leases, unique for every process
 */
export function startWorkers(context: ServiceContext, owner: string): { stop(): Promise<void> } {
  const { store, signals } = context;
  const jobLeases = createLeases(store, OPEN_JOBS, owner);
  const uploadLeases = createLeases(store, OPEN_VALIDATIONS, owner);
  const deliveries = startDeliveries(context, owner);
  const execution = startExecution(context, jobLeases, owner, () => deliveries.wake());
  const validation = startValidation(context, uploadLeases);
  const sweeper = startSweeper(context);
  signals.on('jobQueued', () => execution.wake());
  signals.on('jobCancelled', (id) => {
    execution.drop(id);
    deliveries.wake();
  });
  signals.on('uploadCompleted', () => validation.wake());
  return {
    async stop() {
      await Promise.all([execution.stop(), validation.stop(), sweeper.stop()]);
      // Stopped last: jobs that end while the other workers stop may still create an event.
      await deliveries.stop();
    },
  };
}
