/** Starts the job of an item: provides its input, waits for a slot and submits the request. */

import { isOfRecords } from '../../base/failure.ts';
import { Failure, type Job } from '../../client/index.ts';
import type { BatchItem } from '../item.ts';
import type { IntendRecord } from '../records/intents.ts';
import { createUnusableRecord } from '../report/unusable-inputs.ts';
import type { JobPlace } from './launcher.ts';
import type { Run } from './run.ts';
import { afterTemporary, pauseOf } from './stopping.ts';
import {
  findIntended,
  type IntendedRequest,
  intend,
  isWithoutSlot,
  noteNeverArrived,
  resume,
  submit,
} from './submit.ts';
import type { ProvidedSource } from './uploads.ts';

/** A job that the service has, and the place that it occupies. */
interface Launched {
  readonly key: string;
  readonly job: Job;
  readonly place: JobPlace;
}

interface Attempt {
  readonly order: number;
  /** Null until the intent is on the disk. */
  intended: IntendedRequest | null;
  provided: ProvidedSource | null;
  /** How often the service refused the upload, and how often there was a temporary failure. */
  refusedUploads: number;
  failures: number;
}

/**
 * Uploads, waits for a slot and submits, with retries.
 * @param asked the request of an earlier run whose answer is unknown; null for a new one
 * @throws Failure, Stopped, the reason of the signal
 */
export async function startJob(
  run: Run,
  item: BatchItem,
  order: number,
  asked: IntendRecord | null,
): Promise<Launched> {
  const attempt: Attempt = { order, intended: null, provided: null, refusedUploads: 0, failures: 0 };
  if (asked !== null) {
    if (item.input.type === 'job') attempt.provided = await run.sources.provide(item, order);
    attempt.intended = resume(item, asked, attempt.provided);
    if (attempt.intended === null) {
      const job = await findIntended(run, item, asked);
      if (job !== null) return { key: asked.key, job, place: run.launcher.join() };
      await noteNeverArrived(run, asked);
    }
  }
  try {
    for (;;) {
      const launched = await tryLaunch(run, item, attempt);
      if (launched !== null) return launched;
    }
  } finally {
    attempt.provided?.use();
  }
}

/** Null to retry. */
async function tryLaunch(run: Run, item: BatchItem, attempt: Attempt): Promise<Launched | null> {
  let place: JobPlace | null = null;
  try {
    if (attempt.intended === null) attempt.provided ??= await run.sources.provide(item, attempt.order);
    const units = attempt.provided?.units ?? item.units;
    run.tell(item, { phase: 'ready' });
    place = await run.launcher.enter(attempt.order, item, units);
    attempt.provided?.use();
    run.tell(item, { phase: 'submitting' });
    if (attempt.intended === null) attempt.intended = await intendFrom(run, item, attempt);
    const job = await submit(run, item, attempt.intended);
    run.streak.inARow = 0;
    return { key: attempt.intended.key, job, place };
  } catch (error) {
    if (error instanceof Failure && isWithoutSlot(error)) {
      place?.putBack(error.facts.retryAfterMs ?? null);
      return null;
    }
    place?.withdraw();
    if (!(error instanceof Failure) || isOfRecords(error)) throw error;
    await prepareAgain(run, item, attempt, error);
    return null;
  }
}

function intendFrom(run: Run, item: BatchItem, { provided }: Attempt): Promise<IntendedRequest> {
  if (provided === null) throw new TypeError('an intent needs a source');
  return intend(run, item, provided);
}

/** Prepares a retry, or throws the failure. */
async function prepareAgain(run: Run, item: BatchItem, attempt: Attempt, failure: Failure): Promise<void> {
  const upload = uploadOf(attempt.intended);
  const isLapsed = failure.facts.code === 'INPUT_NOT_USABLE' && item.input.type === 'file';
  if (isLapsed && upload !== null && attempt.refusedUploads === 0) {
    attempt.refusedUploads += 1;
    // The refused request created nothing: a new upload makes a new request, with a new key.
    attempt.intended = null;
    attempt.provided = null;
    await run.sources.forget(item, upload);
    return;
  }
  run.judge(failure);
  attempt.failures += 1;
  const circumstances = {
    failures: attempt.failures,
    inARow: run.streak.inARow,
    items: run.batch.itemCount ?? run.batch.tasks.length,
  };
  if (!afterTemporary(failure, { ...circumstances, isStopped: run.stopping.reason !== null })) {
    if (attempt.intended === null && isAboutFile(failure)) await noteUnusable(run, item, failure);
    throw failure;
  }
  await run.pause(pauseOf(attempt.failures));
}

/** Whether a failure before the request lasts until the file is replaced. */
function isAboutFile({ facts }: Failure): boolean {
  return facts.retryable !== true && (facts.category === 'refused' || facts.category === 'usage');
}

/** Without an intent, this record is all that status and reports know about the item. */
function noteUnusable({ journal, batch }: Run, item: BatchItem, { message, facts }: Failure): Promise<void> {
  return journal.add(createUnusableRecord(item, message, batch.runtime.now(), facts.code));
}

/** The upload that a request names, or null. */
function uploadOf(intended: IntendedRequest | null): string | null {
  const source = intended?.request.source;
  const isUpload = typeof source === 'object' && source !== null && 'upload_id' in source;
  return isUpload && typeof source.upload_id === 'string' ? source.upload_id : null;
}
