/** The subtitle lines that a finished job has made. */

import type { Client, Job } from '../../client/index.ts';
import { requestIdOf } from '../../client/read/record.ts';
import { Failure } from '../../errors/failure.ts';
import { checkLines } from '../../protocol/requests.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { jobFailure } from './deliver.ts';

/**
 * Reads the job and takes the lines of its result.
 * @throws Failure: timeout while it runs, job when it did not succeed, refused when the service sends no usable lines
 */
export async function linesOfJob(
  client: Pick<Client, 'jobs'>,
  reference: string,
  signal: AbortSignal,
): Promise<SubtitleLine[]> {
  const job = await client.jobs.find(reference, { signal });
  if (!isTerminal(job.status)) throw stillRunning(job);
  const failed = jobFailure(job);
  if (failed !== null) throw failed;
  const checked = checkLines(job.result?.lines);
  if (checked.ok) return checked.value;
  const [first] = checked.errors;
  const requestId = requestIdOf(job);
  throw new Failure({
    category: 'refused',
    code: 'ANSWER_INCOMPLETE',
    message: `the result of ${job.id} has no usable \`lines\`: ${first?.pointer ?? ''} ${first?.detail ?? ''}`,
    advice: `Download its subtitle and name the file: \`vloc jobs download ${job.id}\``,
    jobId: job.id,
    ...(requestId === null ? {} : { requestId }),
  });
}

function stillRunning(job: Job): Failure {
  return new Failure({
    category: 'timeout',
    code: 'STILL_RUNNING',
    message: `the job ${job.id} is still ${job.status}, so it has no lines yet`,
    advice: `Wait for it, then run this again: \`vloc jobs wait ${job.id}\``,
    jobId: job.id,
    retryable: true,
  });
}
