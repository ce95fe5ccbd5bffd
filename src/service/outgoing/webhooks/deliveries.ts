/** The worker that delivers events: at least once, over restarts, until the schedule is used up. */
import type { Context } from '../../context.ts';
import { createFractions } from '../../random.ts';
import type { Lease } from '../../running/leases.ts';
import { startWorker, type Worker } from '../../running/worker.ts';
import { systemNetwork } from '../request.ts';
import { createDeliveryQueue } from './queue.ts';
import { waitAfter } from './schedule.ts';
import { sendEvent } from './send.ts';

/**
 * Starts the worker; it takes over the events of processes that died as well.
 * @param owner of this process's leases, different for every process
 */
export function startDeliveries(context: Context, owner: string): Worker {
  const { store, clock, log, config } = context;
  const queue = createDeliveryQueue(store, owner);
  const network = systemNetwork({ allowLoopback: config.allowLoopback });
  const fraction = createFractions(context.randomBytes);

  /** Queues the event for another attempt, or gives it up; `reason` holds nothing secret. */
  const putOff = ({ id, attempt }: Lease, reason: string, jobId: string | undefined, error?: unknown) => {
    const wait = waitAfter(attempt, fraction());
    const next = wait === null ? 'it is given up' : `it is sent again in ${Math.round(wait / 1000)} s`;
    log({
      level: 'warn',
      message: `attempt ${attempt} to deliver the webhook ${id} failed: ${reason}; ${next}`,
      ...(jobId === undefined ? {} : { resourceId: jobId }),
      ...(error === undefined ? {} : { error }),
    });
    if (wait === null) queue.end(id, 'abandoned', clock.now());
    else queue.release(id, { runAfter: clock.now() + wait, counted: true });
  };

  return startWorker({
    leases: queue,
    clock,
    log,
    slots: config.webhookSlots,
    async work(lease, signal) {
      const event = queue.read(lease.id);
      if (event === undefined) return;
      const { headerPrefix } = config;
      const outcome = await sendEvent(event, { network, clock, headerPrefix, signal });
      if (outcome.type === 'failed') putOff(lease, outcome.reason, event.jobId);
      else queue.end(lease.id, outcome.type === 'gone' ? 'abandoned' : 'delivered', clock.now());
    },
    fail: (lease, error) => putOff(lease, 'an unforeseen error', undefined, error),
  });
}
