import { canJobBecome } from '../../protocol/states.ts';
import type { Call } from '../call.ts';
import type { Context } from '../context.ts';
import type { Answer } from '../http/answer.ts';
import { Refusal } from '../http/refusal.ts';
import { carryOutOnce } from '../idempotency.ts';
import { finishJob } from './finish.ts';
import { answerJob, requireOwnJob } from './read.ts';

/** The DELETE of every job kind: ends the job, keeps the record. */
export async function cancelJob(context: Context, call: Call): Promise<Answer> {
  const outcome = await carryOutOnce(context, call, () => {
    const { id, status } = requireOwnJob(context, call, call.resourceId);
    if (!canJobBecome(status, 'cancelled')) {
      throw new Refusal('JOB_NOT_CANCELLABLE', `the job is ${status}`);
    }
    finishJob(context, id, null, { status: 'cancelled' });
    return { status: 202, resourceId: id };
  });
  if (!outcome.replayed) context.signals.emit('jobCancelled', outcome.resourceId);
  return answerJob(context, call, outcome);
}
