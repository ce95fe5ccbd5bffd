/** One job from its creation to files on this disk, with progress. */
import { Failure } from '../../client/failure.ts';
import type { Job } from '../../client/index.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { Connection } from '../connection.ts';
import type { Context, Progress, Step } from '../context.ts';
import { formatBytes } from '../format.ts';
import { deliverResults, jobFailure } from './deliver.ts';
import type { Delivery } from './job-plan.ts';
import type { Outcome } from './outcome.ts';

export interface Follow {
  readonly connection: Pick<Connection, 'client' | 'everyMs'>;
  readonly context: Context;
  readonly progress: Progress;
  readonly delivery: Delivery;
  /** Null waits without an end. */
  readonly timeoutMs: number | null;
}

/** Waits until the job ends, then downloads. Failures become part of the outcome; only an interruption is thrown. */
export async function followJob(
  { connection, context, progress, delivery, timeoutMs }: Follow,
  started: Job,
  label: string,
  stem: string,
): Promise<Outcome> {
  const { client, everyMs } = connection;
  let job = started;
  const key = progressKey(label, started);
  try {
    job = await client.jobs.wait(started.object, started.id, {
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
    const failed = jobFailure(job);
    if (failed !== null) throw failed;
    const files = await deliverResults(client, job, {
      stem,
      delivery,
      signal: context.signal,
      onProgress: (bytes, total) => progress.show(key, downloadStep(bytes, total)),
    });
    progress.end(key, 'done', files.map((file) => file.path).join(', '));
    for (const file of files) event(context, { type: 'file', id: job.id, ...file });
    return { label, stem, job, files, failure: null };
  } catch (error) {
    if (context.signal.aborted || !(error instanceof Failure)) throw error;
    progress.end(key, error.facts.category === 'timeout' ? 'stopped' : 'failed', error.message);
    event(context, { type: 'failed', id: job.id, code: error.facts.code, message: error.message });
    return { label, stem, job, files: [], failure: error };
  }
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
