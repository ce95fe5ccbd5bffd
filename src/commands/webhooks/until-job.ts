/** The end of a job, as its event tells it. */

import { type Caller, writeCommand } from '../../context/printed-command.ts';
import { Failure } from '../../errors/failure.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { ReceivedEvent } from './receiver.ts';

/** The id in a bare id, `kind/id` or `detail_url`. */
export function idOfReference(reference: string): string {
  return reference.trim().replace(/\/+$/, '').split('/').at(-1) ?? '';
}

/** Whether this event says that the job has ended. */
export function isEndOf(event: ReceivedEvent, jobId: string): boolean {
  const { id, status } = event.job;
  return id === jobId && status !== null && isTerminal(status);
}

/** @throws Failure (`job`) when it ended in another way than with success */
export function checkSuccess({ job }: ReceivedEvent, caller: Caller): void {
  if (job.status === 'succeeded') return;
  const jobId = job.id ?? '';
  const reference = job.kind === null ? jobId : `${job.kind}/${jobId}`;
  throw new Failure({
    category: 'job',
    code: job.status === 'cancelled' ? 'JOB_CANCELLED' : 'JOB_FAILED',
    message: job.status === 'cancelled' ? 'the job was cancelled' : 'the job failed',
    advice: `See why: \`${writeCommand(caller, ['jobs', 'get', reference])}\``,
    jobId,
  });
}
