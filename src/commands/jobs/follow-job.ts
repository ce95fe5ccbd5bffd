/** Follows a job of `jobs wait|download` to its files, with progress. */

import type PQueue from 'p-queue';
import { formatBytes } from '../../base/amounts.ts';
import { Failure, isOfRecords, timeoutFailure } from '../../base/failure.ts';
import type { FindInput } from '../../base/find-input.ts';
import { deliverResults, recordOnMachine } from '../../batch/deliver/deliver-results.ts';
import type { Delivery } from '../../batch/inputs/delivery.ts';
import type { Job, WaitForJob } from '../../client/index.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { Connection } from '../context/connection.ts';
import type { Context, Progress, Step } from '../context/context.ts';
import { showPath } from '../context/format.ts';
import { openLocalRecords } from '../context/local-records.ts';
import { deliveryCommand, isResultKept } from './continuation.ts';
import type { Outcome } from './job-outcomes.ts';
import { createMarking, type MarkByProgram } from './mark-program.ts';
import { createPreparation } from './preparation.ts';
import type { Claims, NamingOf } from './result-places.ts';

export interface Follow {
  readonly connection: Pick<Connection, 'client' | 'everyMs' | 'stateDir' | 'profile' | 'readProvenance'>;
  readonly context: Context;
  readonly progress: Progress;
  /** As the options ask for it. */
  readonly delivery: Delivery;
  /** Names the results of each job. */
  readonly namingOf: NamingOf;
  /** Finds inputs of recorded jobs, which no result may replace. */
  readonly findInput: FindInput;
  /** Null for no limit. */
  readonly timeoutMs: number | null;
  /** Waits for a job; several waits share their requests. */
  readonly wait: WaitForJob;
  readonly claims: Claims;
  /** Turns of downloads; results whose links expire first go first. */
  readonly downloads: PQueue;
}

/** Chooses how to wait for this number of jobs. A service on this machine reports more if jobs are read individually, at no cost. */
export function chooseWait(
  { client, everyMs }: Pick<Connection, 'client' | 'everyMs'>,
  count: number,
): WaitForJob {
  return count > 1 && everyMs === null ? client.jobs.waitTogether() : client.jobs.wait;
}

/** Waits until the job ends, then downloads. Failures and interruptions become part of the outcome. */
export async function followJob(follow: Follow, started: Job): Promise<Outcome> {
  const { connection, context, progress, timeoutMs } = follow;
  const { everyMs } = connection;
  let job = started;
  const key = progressKey(started);
  try {
    job = await follow.wait(started.object, started.id, {
      signal: context.signal,
      ...(timeoutMs === null ? {} : { timeoutMs }),
      ...(everyMs === null ? {} : { everyMs }),
      onChange: (changed) => {
        // A list entry has only some fields of a job.
        job = { ...job, status: changed.status, stage: changed.stage, progress: changed.progress };
        if (!isTerminal(changed.status)) progress.show(key, stepOf(changed));
        context.present.event(jobEvent(changed));
      },
    });
  } catch (error) {
    return failedJob(follow, job, error);
  }
  return deliverJob(follow, job);
}

/** Downloads the results of a job. A job that did not succeed is a failure of the outcome. */
export async function deliverJob(follow: Follow, job: Job): Promise<Outcome> {
  const { connection, context, progress, claims } = follow;
  const key = progressKey(job);
  try {
    if (!isTerminal(job.status)) throw notFinishedFailure(job);
    const naming = follow.namingOf(job);
    const { jobs: record } = openLocalRecords(connection, context.io.now);
    const files = await deliverResults(job, {
      client: connection.client,
      naming,
      record: recordOnMachine(record, job, naming.delivery.existing),
      async addTracks(task, work) {
        const made = { engines: null, atMs: context.io.now() };
        const mark: MarkByProgram = async (video, marking) => (await createMarking(context))(video, marking);
        const preparation = createPreparation(context.io, mark);
        const { path, notes } = await preparation.addTracks({ ...task, made }, work);
        for (const note of notes) context.terminal.warn(`${job.id}: ${note}`);
        return path;
      },
      turns: follow.downloads,
      locksDir: connection.stateDir,
      findInput: follow.findInput,
      signal: context.signal,
      claim: (paths) => claims.take(job, paths),
      onProgress: (bytes, total) => progress.show(key, downloadStep(bytes, total)),
    });
    progress.end(key, 'done', files.map((file) => showPath(file.path, context.io.cwd)).join(', '));
    for (const file of files) context.present.event({ type: 'file', id: job.id, ...file });
    const provenance = await connection.readProvenance(job.id);
    if (provenance !== null) context.present.event({ type: 'provenance', id: job.id, ...provenance });
    return { label: job.id, stem: job.id, job, files, failure: null, provenance };
  } catch (error) {
    return failedJob(follow, job, error);
  }
}

/** The outcome with the failure, or with neither result nor failure after an interruption. @throws other errors */
function failedJob(follow: Follow, job: Job, error: unknown): Outcome {
  const { context, progress } = follow;
  const outcome = { label: job.id, stem: job.id, job, files: [] };
  const key = progressKey(job);
  if (!(error instanceof Failure) || isOfRecords(error)) {
    if (!context.signal.aborted) throw error;
    progress.end(key, 'stopped', isTerminal(job.status) ? 'not fetched' : `${job.id} continues`);
    return { ...outcome, failure: null };
  }
  const failure = withCommandFailure(follow, job, error);
  progress.end(key, isStillRunning(error) ? 'stopped' : 'failed', failure.message);
  context.present.event(failedEvent(job.id, failure));
  return { ...outcome, failure };
}

const STILL_RUNNING = 'STILL_RUNNING';

/** Whether the job is still running. */
export function isStillRunning(failure: Failure | null): boolean {
  return failure?.facts.code === STILL_RUNNING;
}

/** Adds the command that continues if the service still has the job or its result. */
function withCommandFailure(follow: Follow, job: Job, failure: Failure): Failure {
  if (isStillRunning(failure)) return failure.with({ advice: goOnAdvice(follow, job) });
  const { advice = '' } = failure.facts;
  if (!isTerminal(job.status)) {
    const isPassing = failure.facts.category === 'temporary' || isResultKept(failure);
    return isPassing ? failure.with({ advice: `${advice}\n${goOnAdvice(follow, job)}` }) : failure;
  }
  if (!isResultKept(failure)) return failure;
  const command = deliveryCommand('download', [job.id], follow.delivery, follow.context);
  return failure.with({ advice: `${advice}\nDownload it with: ${command}` });
}

function goOnAdvice({ delivery, context }: Follow, { id }: Job): string {
  return `It is still running; wait for it with: ${deliveryCommand('wait', [id], delivery, context)}`;
}

function notFinishedFailure({ id, status }: Job): Failure {
  return timeoutFailure(STILL_RUNNING, `the job ${id} is still ${status}`, undefined, {
    jobId: id,
    retryable: true,
  });
}

/** `dub_… → es` for jobs with a target language. */
function progressKey({ id, input }: Pick<Job, 'id' | 'input'>): string {
  const language = input?.target_language;
  return typeof language === 'string' ? `${id} → ${language}` : id;
}

/** The event for a job that has changed. */
export function jobEvent({ id, status, stage, progress }: Pick<Job, 'id' | 'status' | 'stage' | 'progress'>) {
  return { type: 'job', id, status, stage, progress };
}

export function failedEvent(id: string, { code, message }: Failure) {
  return { type: 'failed', id, code, message };
}

function stepOf(job: Job): Step {
  if (job.status === 'queued') return { phase: 'queued', fraction: null };
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
