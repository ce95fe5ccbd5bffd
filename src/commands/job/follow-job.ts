/** One job from its creation to files on this disk, with progress. */

import type { Delivery } from '../../batch/plan/delivery.ts';
import { deliverResults, jobFailure } from '../../batch/run/deliver.ts';
import { Failure } from '../../client/failure.ts';
import type { Client, Job } from '../../client/index.ts';
import { JournalFailure } from '../../journal/failure.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { Connection } from '../connection.ts';
import type { Context, Progress, Step } from '../context.ts';
import { formatBytes } from '../format.ts';
import { openLocalRecords } from '../local-records.ts';
import type { Outcome } from './outcome.ts';

export interface Follow {
  readonly connection: Pick<Connection, 'client' | 'everyMs' | 'stateDir' | 'profile'>;
  readonly context: Context;
  readonly progress: Progress;
  readonly delivery: Delivery;
  /** Null waits without an end. */
  readonly timeoutMs: number | null;
  /** How it is waited for a job; several jobs share their requests. */
  readonly wait: Client['jobs']['wait'];
}

/** The way to wait for so many jobs. A service on this machine tells more when each is asked for, and it costs nothing. */
export function chooseWait(
  { client, everyMs }: Pick<Connection, 'client' | 'everyMs'>,
  count: number,
): Client['jobs']['wait'] {
  return count > 1 && everyMs === null ? client.jobs.waitTogether() : client.jobs.wait;
}

/** Waits until the job ends, then downloads. Failures become part of the outcome; only an interruption is thrown. */
export async function followJob(follow: Follow, started: Job, label: string, stem: string): Promise<Outcome> {
  const { connection, context, progress, timeoutMs } = follow;
  const { everyMs } = connection;
  let job = started;
  const key = progressKey(label, started);
  try {
    job = await follow.wait(started.object, started.id, {
      signal: context.signal,
      ...(timeoutMs === null ? {} : { timeoutMs }),
      ...(everyMs === null ? {} : { everyMs }),
      onChange: (changed) => {
        if (!isTerminal(changed.status)) progress.show(key, stepOf(changed));
        event(context, {
          type: 'job',
          id: changed.id,
          status: changed.status,
          stage: changed.stage,
          progress: changed.progress,
        });
      },
    });
  } catch (error) {
    return failedJob(follow, key, { label, stem, job }, error);
  }
  return deliverJob(follow, job, label, stem);
}

/** Downloads what a job has made; one that did not succeed is a failure. Only an interruption is thrown. */
export async function deliverJob(follow: Follow, job: Job, label: string, stem: string): Promise<Outcome> {
  const { connection, context, progress, delivery } = follow;
  const key = progressKey(label, job);
  try {
    if (!isTerminal(job.status)) throw notFinished(job);
    const failed = jobFailure(job);
    if (failed !== null) throw failed;
    const files = await deliverResults(connection.client, job, {
      stem,
      delivery,
      signal: context.signal,
      onProgress: (bytes, total) => progress.show(key, downloadStep(bytes, total)),
    });
    await noteDownloaded(follow, job, files);
    progress.end(key, 'done', files.map((file) => file.path).join(', '));
    for (const file of files) event(context, { type: 'file', id: job.id, ...file });
    return { label, stem, job, files, failure: null };
  } catch (error) {
    return failedJob(follow, key, { label, stem, job }, error);
  }
}

/** For completion and `jobs download --all-finished`; a record that cannot be written is no reason to fail. */
async function noteDownloaded(
  { connection, context }: Follow,
  job: Job,
  files: readonly { readonly path: string }[],
): Promise<void> {
  const { jobs } = openLocalRecords(connection, context.io.now);
  try {
    // Of jobs that others have made the record knows nothing else either.
    if ((await jobs.kindOf(job.id)) === null) return;
    await jobs.see(job.id, job.status);
    await jobs.markDownloaded(
      job.id,
      files.map(({ path }) => path),
    );
  } catch (error) {
    if (!(error instanceof JournalFailure)) throw error;
  }
}

function failedJob(
  { context, progress }: Follow,
  key: string,
  about: Pick<Outcome, 'label' | 'stem'> & { job: Job },
  error: unknown,
): Outcome {
  if (context.signal.aborted || !(error instanceof Failure)) throw error;
  progress.end(key, error.facts.category === 'timeout' ? 'stopped' : 'failed', error.message);
  event(context, { type: 'failed', id: about.job.id, code: error.facts.code, message: error.message });
  return { ...about, files: [], failure: error };
}

function notFinished(job: Job): Failure {
  return new Failure({
    category: 'timeout',
    code: 'STILL_RUNNING',
    message: `the job ${job.id} is still ${job.status}`,
    advice: `Wait for it: vloc jobs wait ${job.id}`,
    jobId: job.id,
    retryable: true,
  });
}

/** `talk.mp4 → es` where a language is asked for. */
export function progressKey(label: string, job: Pick<Job, 'input'>): string {
  const language = job.input?.target_language;
  return typeof language === 'string' ? `${label} → ${language}` : label;
}

/** Writes one event of the `ndjson` form; nothing in the others. */
export function event(context: Context, fact: Readonly<Record<string, unknown>>): void {
  if (context.output === 'ndjson') context.print(JSON.stringify(fact));
}

function stepOf(job: Job): Step {
  if (job.status === 'queued') return { phase: 'waiting for a slot', fraction: null };
  return { phase: job.stage ?? 'processing', fraction: job.progress / 100 };
}

function downloadStep(bytes: number, total: number | null): Step {
  if (total === null) return { phase: 'downloading', fraction: null, detail: formatBytes(bytes) };
  return {
    phase: 'downloading',
    fraction: bytes / total,
    detail: `${formatBytes(bytes)} of ${formatBytes(total)}`,
  };
}
