/** The only way to end a job: its record, its credits and its event change in one transaction. */

import type { JobErrorCode, JobFailure } from '../../protocol/job-failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { canJobBecome } from '../../protocol/states.ts';
import type { OperationCall, ServiceContext } from '../context.ts';
import { readReserved, releaseCredits, settleCredits } from '../credits/billing.ts';
import type { ServiceResponse } from '../http/exchange.ts';
import { Refusal } from '../http/refusal.ts';
import { carryOutOnce } from '../idempotency.ts';
import { OPEN_STATUSES } from '../job-statuses.ts';
import { recordEvent } from '../outgoing/webhooks/event.ts';
import type { Transaction } from '../store/store.ts';
import { answerJob, requireOwnJob } from './read.ts';
import type { StoredResult } from './results.ts';

type Ending =
  | {
      readonly status: 'succeeded';
      readonly result: StoredResult;
      /** Name of the folder in the assets folder that contains the files. */
      readonly folder: string;
      /** The metered units of the job. */
      readonly quantity: number;
    }
  | { readonly status: 'failed'; readonly code: JobErrorCode; readonly message: string }
  | { readonly status: 'cancelled' };

interface Ended {
  readonly id: string;
  readonly kind: JobKind;
  readonly key_id: string;
  readonly client_reference: string | null;
  readonly callback_url: string | null;
}

/** Ends a job in its own transaction. See `endJob`. */
export function finishJob(
  context: Pick<ServiceContext, 'store' | 'clock' | 'makeId'>,
  id: string,
  owner: string | null,
  ending: Ending,
): Promise<boolean> {
  return context.store.transaction((tx) => endJob(context, tx, { id, owner, ending }));
}

/** Fails a job that no process works on. @returns false if one does, or the job has ended */
export function failWaitingJob(
  context: ServiceContext,
  id: string,
  { code, message }: JobFailure,
): Promise<boolean> {
  return context.store.transaction(async (tx) => {
    const waiting = await tx.get(
      'SELECT 1 FROM jobs WHERE id = ? AND (lease_owner IS NULL OR lease_until <= ?)',
      id,
      context.clock.now(),
    );
    if (waiting === undefined) return false;
    return endJob(context, tx, { id, owner: null, ending: { status: 'failed', code, message } });
  });
}

/**
 * Ends a job unless it has already ended.
 * @param owner if set, ends it only while this process holds the lease, so that a job is not ended twice; null: always
 * @returns false if the job had already ended
 */
async function endJob(
  context: Pick<ServiceContext, 'clock' | 'makeId'>,
  tx: Transaction,
  { id, owner, ending }: { id: string; owner: string | null; ending: Ending },
): Promise<boolean> {
  const now = context.clock.now();
  const succeeded = ending.status === 'succeeded' ? ending : null;
  const failed = ending.status === 'failed' ? ending : null;
  // A job fails only from `processing`. One that never started, such as one that no worker can do, passes through it here.
  if (failed !== null) {
    await tx.run(
      `UPDATE jobs SET status = 'processing', started_at = ?1 WHERE id = ?2 AND status = 'queued' AND (lease_owner = ?3 OR ?3 IS NULL)`,
      now,
      id,
      owner,
    );
  }
  const update = tx.get<Ended>(
    `UPDATE jobs SET status = ?1, progress = CASE ?1 WHEN 'succeeded' THEN 100 ELSE progress END,
       stage = CASE ?1 WHEN 'succeeded' THEN NULL ELSE stage END, result = ?2, folder = ?3, links_expire_at = ?4, error_code = ?5, error_message = ?6,
       finished_at = ?7, updated_at = ?7, lease_owner = NULL, lease_until = NULL
     WHERE id = ?8 AND status IN ${OPEN_STATUSES} AND (lease_owner = ?9 OR ?9 IS NULL)
     RETURNING id, kind, key_id, client_reference, callback_url`,
    ending.status,
    succeeded === null ? null : JSON.stringify(succeeded.result),
    succeeded?.folder ?? null,
    succeeded === null ? null : now + LIMITS.resultLinkMs,
    failed?.code ?? null,
    failed?.message ?? null,
    now,
    id,
    owner,
  );
  const [ended, reserved] = await Promise.all([
    update,
    succeeded === null ? null : readReserved(tx, id, now),
  ]);
  if (ended === undefined) return false;
  const recording = recordEvent(tx, context.makeId, { ...ended, status: ending.status }, now);
  if (succeeded === null || reserved === null) {
    await Promise.all([recording, releaseCredits(tx, id)]);
  } else {
    const { kind, client_reference: clientReference } = ended;
    const done = { id, kind, clientReference, quantity: succeeded.quantity };
    await Promise.all([recording, settleCredits(tx, reserved, done, now, context.makeId)]);
  }
  return true;
}

/** The DELETE of every job kind: cancels the job and keeps its record. */
export async function cancelJob(context: ServiceContext, call: OperationCall): Promise<ServiceResponse> {
  const outcome = await carryOutOnce(context, call, async (tx) => {
    const { id, status } = await requireOwnJob(tx, call, call.resourceId);
    if (!canJobBecome(status, 'cancelled')) {
      throw new Refusal('JOB_NOT_CANCELLABLE', `the job has already ended (${status})`);
    }
    await endJob(context, tx, { id, owner: null, ending: { status: 'cancelled' } });
    return { status: 202, resourceId: id };
  });
  if (!outcome.replayed) context.signals.emit('jobCancelled', outcome.resourceId);
  return answerJob(context, call, outcome);
}
