/**
 * The worker that delivers events at least once, across restarts, until all retries are used. Source: contract,
 * "Webhooks"; specification, "Events".
 */
import { AddressBlocked } from '../../../base/checked-connection.ts';
import { webhookHeaderNames } from '../../../protocol/headers.ts';
import { signWebhook } from '../../../protocol/webhook-signature.ts';
import type { Clock } from '../../clock.ts';
import type { ServiceContext } from '../../context.ts';
import { createFractions } from '../../random.ts';
import { createLeases, type Lease, type LeasedRows, type Leases } from '../../running/leases.ts';
import { type LeaseWorker, startWorker } from '../../running/worker.ts';
import type { Store } from '../../store/store.ts';
import { withDeadline } from '../../time-limits.ts';
import { type OutgoingNetwork, sendRequest, systemNetwork, TargetUnreachable } from '../request.ts';

/**
 * Starts the worker. It also takes over the events of processes that died.
 * @param owner of this process's leases, unique for every process
 */
export function startDeliveries(context: ServiceContext, owner: string): LeaseWorker {
  const { store, clock, log, config } = context;
  const queue = createDeliveryQueue(store, owner);
  const network = systemNetwork({ allowLoopback: config.allowLoopback });
  const fraction = createFractions(context.randomBytes);

  /** Queues the event for another attempt, or abandons it. `reason` must not contain a secret. */
  const putOff = async (
    { id, attempt }: Lease,
    reason: string,
    jobId: string | undefined,
    error?: unknown,
  ) => {
    const wait = waitAfter(attempt, fraction());
    const next = wait === null ? 'it was the last one' : `it is sent again in ${Math.round(wait / 1000)} s`;
    log({
      level: 'warn',
      message: `attempt ${attempt} to deliver the webhook ${id} failed: ${reason}; ${next}`,
      ...(jobId === undefined ? {} : { resourceId: jobId }),
      ...(error === undefined ? {} : { error }),
    });
    if (wait === null) await queue.end(id, 'abandoned', clock.now());
    else await queue.release(id, { runAfter: clock.now() + wait, counted: true });
  };

  return startWorker({
    leases: queue,
    clock,
    log,
    slots: config.webhookSlots,
    onStuck: context.onStuck,
    async work(lease, signal) {
      const event = await queue.read(lease.id);
      if (event === undefined) return;
      const { headerPrefix } = config;
      const outcome = await sendEvent(event, { network, clock, headerPrefix, signal });
      if (outcome.type === 'failed') await putOff(lease, outcome.reason, event.jobId);
      else await queue.end(lease.id, outcome.type === 'gone' ? 'abandoned' : 'delivered', clock.now());
    },
    fail: (lease, error) => putOff(lease, 'an unforeseen error', undefined, error),
  });
}

type DeliveryEnd = 'delivered' | 'abandoned';

interface DeliveryQueue extends Leases {
  /** Returns the event to send, or undefined if its record no longer exists. */
  read(id: string): Promise<(OutgoingEvent & { readonly jobId: string }) | undefined>;
  /** Removes an event that this process holds from the queue. */
  end(id: string, status: DeliveryEnd, now: number): Promise<void>;
}

export const PENDING: LeasedRows = { table: 'deliveries', open: `status = 'pending'`, firstBy: 'run_after' };
const END = `
  UPDATE deliveries SET status = ?, ended_at = ?, lease_owner = NULL, lease_until = NULL
  WHERE id = ? AND lease_owner = ? AND status = 'pending'`;
const READ = `
  SELECT deliveries.id, job_id AS "jobId", url, body, keys.webhook_secret AS secret
  FROM deliveries JOIN keys ON keys.id = deliveries.key_id WHERE deliveries.id = ?`;

/**
 * Creates the queue of pending events, as leases for a worker. The first due event goes first.
 * @param owner of the leases, unique for every process
 */
function createDeliveryQueue(store: Store, owner: string): DeliveryQueue {
  return {
    ...createLeases(store, PENDING, owner),
    read: (id) => store.get(READ, id),
    async end(id, status, now) {
      await store.run(END, status, now, id, owner);
    },
  };
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Delays after each failed attempt. Together they are under 20 hours, so that the results still exist at the last
 * attempt. Source: contract, "Webhooks" (delivery).
 */
const WAITS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
];

/** Varies the delay by up to a tenth, so that the events of one outage are not all retried in the same second. */
const JITTER = 0.1;

/**
 * Returns the delay after a failed attempt, in ms; null after the last one.
 * @param attempt the failed attempt, from 1
 * @param fraction uniform in [0, 1)
 */
export function waitAfter(attempt: number, fraction: number): number | null {
  const wait = WAITS_MS[attempt - 1];
  return wait === undefined ? null : Math.round(wait * (1 + JITTER * (2 * fraction - 1)));
}

interface OutgoingEvent {
  readonly id: string;
  readonly url: string;
  /** JSON. Exactly these bytes are signed and sent. */
  readonly body: string;
  /** Webhook secret of the key that created the job. */
  readonly secret: string;
}

type Outcome =
  | { readonly type: 'delivered' }
  /** The receiver no longer wants the event. */
  | { readonly type: 'gone' }
  /** `reason` may be logged. */
  | { readonly type: 'failed'; readonly reason: string };

interface SendParts {
  readonly network: OutgoingNetwork;
  readonly clock: Clock;
  readonly headerPrefix: string;
  readonly signal: AbortSignal;
}

/** From the DNS lookup to the head of the answer. Source: specification, "Limits" (webhook response deadline). */
const ANSWER_MS = 5000;
const GONE = 410;

/** Signs an event with the current time and sends it. Throws only the signal's reason and internal errors. */
export async function sendEvent(event: OutgoingEvent, parts: SendParts): Promise<Outcome> {
  const { network, clock, signal } = parts;
  const failure = new TargetUnreachable(`there was no answer within ${ANSWER_MS / 1000} s`);
  const message = { method: 'POST', headers: signedHeaders(event, parts), body: event.body } as const;
  try {
    const answer = await withDeadline({ clock, ms: ANSWER_MS, failure, signal }, (limited) =>
      sendRequest(network, event.url, message, limited),
    );
    // Only the status is needed, and the body could be endless.
    answer.discard();
    return outcomeOf(answer.status);
  } catch (error) {
    if (error instanceof AddressBlocked || error instanceof TargetUnreachable) {
      return { type: 'failed', reason: error.message };
    }
    throw error;
  }
}

function signedHeaders(event: OutgoingEvent, { clock, headerPrefix }: SendParts): Record<string, string> {
  const names = webhookHeaderNames(headerPrefix);
  const timestamp = String(Math.floor(clock.now() / 1000));
  return {
    'Content-Type': 'application/json',
    [names.timestamp]: timestamp,
    [names.id]: event.id,
    [names.signature]: signWebhook(event.secret, { timestamp, eventId: event.id, body: event.body }),
  };
}

/** Any 2xx is success. Redirects are not followed, because they could send a signed event to any server. */
function outcomeOf(status: number): Outcome {
  if (status >= 200 && status < 300) return { type: 'delivered' };
  if (status === GONE) return { type: 'gone' };
  return { type: 'failed', reason: `the receiver answered with status ${status}` };
}
