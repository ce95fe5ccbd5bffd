/** Runs one item from the state in which earlier runs left it to its outcome in this run. */
import { Failure, isApiAnswer, isOfRecords, jobFailure } from '../../base/failure.ts';
import type { Job } from '../../client/index.ts';
import type { Provenance } from '../../protocol/provenance.ts';
import { isTerminal } from '../../protocol/states.ts';
import { firstLinkExpiry, foundLanguage } from '../deliver/deliver-results.ts';
import type { BatchItem } from '../item.ts';
import { renumberCues } from '../item-provenance.ts';
import type { Decision } from '../plan/decision.ts';
import { decisionFailure } from '../plan/refusal.ts';
import type { Attempt, AttemptState } from '../records/attempts.ts';
import { newestAttempt } from '../records/item-key.ts';
import { createUnusableRecord } from '../records/unusable-inputs.ts';
import type { RunOutcome } from './batch.ts';
import { checkTranslation } from './check-translation.ts';
import { copyRenamed, deliverItem } from './deliver-item.ts';
import type { JobPlace } from './launcher.ts';
import { doneBefore, resultExpiredFailure, resultGoneFailure } from './outcome.ts';
import { formatTimestamp, type Run } from './run.ts';
import { linesOfJob } from './sources.ts';
import { afterTemporary, pauseOf, Stopped } from './stopping.ts';
import {
  findIntended,
  type IntendedRequest,
  isWithoutSlot,
  noteNeverArrived,
  recordAttempt,
  resumeRequest,
  submitRequest,
} from './submit.ts';
import type { ProvidedSource } from './uploads.ts';

/** Jobs that are useless without each other. */
export interface JobGroup {
  /** Once one of them has failed, no other one is started. */
  hasFailed: boolean;
}

/** What a job is used for if it makes only a part of an item. */
interface JobUse {
  readonly group: JobGroup | null;
  /** See `JobStep`. */
  readonly numbers?: readonly (number | null)[] | undefined;
}

/** An item while it runs, and its job as far as known. */
interface ItemRun {
  readonly run: Run;
  readonly item: BatchItem;
  readonly use: JobUse;
  jobId: string | null;
  job: Job | null;
}

type FinalState = RunOutcome['state'];

/** @param order of the item in the batch  @throws only internal errors */
export async function runItem(
  run: Run,
  item: BatchItem,
  order: number,
  decision: Decision,
  use: JobUse = { group: null },
): Promise<RunOutcome> {
  const itemRun: ItemRun = { run, item, use, jobId: null, job: null };
  let state: FinalState;
  try {
    state = await runDecision(itemRun, order, decision);
  } catch (error) {
    state = outcomeOf(run, itemRun.jobId, explainGone(itemRun, error));
    if (state.phase === 'failed' && itemRun.jobId !== null) run.judge(state.failure, item);
  }
  run.tell(item, state);
  return { item, state, job: itemRun.job };
}

/** A result that was downloaded before and is gone has another cause and other remedies than one that never came. */
function explainGone({ run, item }: ItemRun, error: unknown): unknown {
  const isExpired = error instanceof Failure && error.facts.category === 'expired';
  if (!isExpired || item.part !== undefined) return error;
  const attempt = newestAttempt(item.key, run.journal.attempts);
  if (attempt === null || attempt.files.length === 0) return error;
  return resultGoneFailure(attempt, run.batch.delivery.folder);
}

async function runDecision(itemRun: ItemRun, order: number, decision: Decision): Promise<FinalState> {
  const { run, item } = itemRun;
  switch (decision.step) {
    case 'done':
      return checkResult(itemRun, doneBefore(item, decision));
    case 'changed':
    case 'edited':
    case 'failed':
      throw decisionFailure(decision);
    case 'unusable':
      await run.journal.add(createUnusableRecord(item, decision.detail, run.batch.runtime.now()));
      throw decisionFailure(decision);
    case 'new':
      return launchAndWait(itemRun, order, null);
    case 'expired':
      return askExpired(itemRun, order, decision);
    case 'continue':
      break;
  }
  const { next } = decision;
  if (next.step === 'parts') throw new TypeError('an item in parts is carried by its parts');
  if (next.step === 'submit') return launchAndWait(itemRun, order, next.asked);
  return resumeJob(itemRun, next);
}

async function resumeJob(
  itemRun: ItemRun,
  {
    key,
    jobId,
    step,
  }: { readonly key: string; readonly jobId: string; readonly step: 'attach' | 'download' },
): Promise<FinalState> {
  const { run } = itemRun;
  itemRun.jobId = jobId;
  const copied = step === 'download' ? await copyRenamed(run, itemRun.item, key) : null;
  if (copied !== null)
    return checkResult(itemRun, { phase: 'done', jobId, before: null, credits: null, files: copied });
  if (run.batch.options.detach) return lookOnce(itemRun, key, jobId, step);
  if (step === 'attach') return follow(itemRun, key, jobId, run.launcher.join());
  const job = await readJob(itemRun, jobId);
  // It has finished before, but a replica of the service may be behind.
  if (!isTerminal(job.status)) return follow(itemRun, key, jobId, run.launcher.join(), job);
  return deliver(itemRun, key, job);
}

/** Asks the service for the job, since a clock may be wrong. A new job is allowed only if the service does not have it. */
async function askExpired(
  itemRun: ItemRun,
  order: number,
  { key, jobId }: Extract<Decision, { step: 'expired' }>,
): Promise<FinalState> {
  const { run } = itemRun;
  const attempt = run.journal.attempts.byKey.get(key);
  try {
    if (jobId === null) return await findAndWait(itemRun, key, attempt ?? null);
    const step = attempt?.state === 'accepted' ? 'attach' : 'download';
    return await resumeJob(itemRun, { key, jobId, step });
  } catch (error) {
    const isGone = error instanceof Failure && error.facts.category === 'expired';
    if (!isGone || run.batch.options.renewExpired !== true) throw error;
    return launchAndWait(itemRun, order, null);
  }
}

/** Waits for the job of an old request without a recorded answer. */
async function findAndWait(itemRun: ItemRun, key: string, asked: Attempt | null): Promise<FinalState> {
  const { run, item } = itemRun;
  const job = asked === null ? null : await findIntended(run, item, asked);
  if (job === null) throw resultExpiredFailure(null);
  return resumeJob(itemRun, { key, jobId: job.id, step: 'attach' });
}

/** For --detach: does not wait, but downloads the result if the job has finished. */
async function lookOnce(
  itemRun: ItemRun,
  key: string,
  jobId: string,
  step: 'attach' | 'download',
): Promise<FinalState> {
  const job = await readJob(itemRun, jobId);
  showJob(itemRun, job);
  if (!isTerminal(job.status)) return { phase: 'left', jobId, because: 'detached' };
  if (step === 'attach') await noteFinished(itemRun, key, job);
  return deliver(itemRun, key, job);
}

async function launchAndWait(itemRun: ItemRun, order: number, asked: Attempt | null): Promise<FinalState> {
  const { run } = itemRun;
  const { key, job, place } = await startJob(itemRun, order, asked);
  showJob(itemRun, job);
  if (run.batch.options.detach) {
    place.leave();
    return { phase: 'left', jobId: job.id, because: 'detached' };
  }
  return follow(itemRun, key, job.id, place, job);
}

/** Waits for the end of a job, then frees its slot. */
async function follow(
  itemRun: ItemRun,
  key: string,
  jobId: string,
  place: JobPlace,
  seen?: Job,
): Promise<FinalState> {
  const { run, item, use } = itemRun;
  const { group } = use;
  const { everyMs } = run.batch.connection;
  itemRun.jobId = jobId;
  let job: Job;
  run.following.jobs += 1;
  try {
    job = await run.wait(item.kind, jobId, {
      signal: run.stopping.waiting,
      ...(everyMs === null ? {} : { everyMs }),
      seen,
      onChange: (changed) => {
        if (group !== null) noteEnd(group, changed, place);
        showJob(itemRun, changed);
      },
      // The next job starts before the result of this one is read.
      onEnd: group === null ? () => place.leave() : () => undefined,
    });
    run.streak.inARow = 0;
  } catch (error) {
    throw expireMissing(error, jobId);
  } finally {
    run.following.jobs -= 1;
    place.leave();
  }
  await noteFinished(itemRun, key, job);
  return deliver(itemRun, key, job);
}

/** The slot of a job of a group is kept until it is known how the job ended: a failure makes the next one useless. */
function noteEnd(group: JobGroup, { status }: Job, place: JobPlace): void {
  if (status === 'failed' || status === 'cancelled') group.hasFailed = true;
  if (isTerminal(status)) place.leave();
}

/** How the job made its result, by the numbers that its cues have in the subtitles of the item. */
async function readProvenance({ run, use }: ItemRun, jobId: string): Promise<Provenance | null> {
  const provenance = await run.batch.connection.readProvenance(jobId);
  const { numbers } = use;
  if (provenance === null || numbers === undefined) return provenance;
  return { ...provenance, cues: renumberCues(provenance.cues, (cue) => numbers[cue - 1] ?? null) };
}

async function noteFinished(itemRun: ItemRun, key: string, job: Job): Promise<void> {
  const { run, item } = itemRun;
  const { id, status, error } = job;
  // Recorded before the result is named, so that every later run uses the same name.
  const language = foundLanguage(job);
  const { code = null, ...why } = error ?? {};
  const finished = {
    type: 'changed',
    key,
    state: status as AttemptState, // it has ended
    job_id: id,
    finished_at: formatTimestamp(run),
    expires_at: firstLinkExpiry(job),
    language,
    ...{ ...why, error: code },
  } as const;
  const provenance = await readProvenance(itemRun, id);
  const made = provenance === null ? [] : [{ type: 'made', key, provenance } as const];
  await run.journal.add(finished, ...run.takeBill(item, key, job), ...made);
  await run.note(() => run.batch.records.jobs.see(id, status));
}

/** Delivers the results of the job. */
async function deliver(itemRun: ItemRun, key: string, job: Job): Promise<FinalState> {
  const { run, item } = itemRun;
  itemRun.job = job;
  const files = await deliverItem(run, item, key, job);
  const credits = job.billing?.charged_credits ?? null;
  const provenance = await readProvenance(itemRun, job.id);
  return checkResult(itemRun, { phase: 'done', jobId: job.id, before: null, credits, files, provenance });
}

function checkResult(
  { run, item }: ItemRun,
  state: Extract<FinalState, { phase: 'done' }>,
): Promise<FinalState> {
  const { input } = item;
  return checkTranslation(run, item, state, async () => {
    if (input.type !== 'job') return null;
    const { connection, signal } = run.batch;
    return linesOfJob(connection.client, input.reference, signal).catch(() => null);
  });
}

async function readJob({ run, item }: ItemRun, jobId: string): Promise<Job> {
  try {
    return await run.batch.connection.client.jobs.get(item.kind, jobId, { signal: run.batch.signal });
  } catch (error) {
    throw expireMissing(error, jobId);
  }
}

function expireMissing(error: unknown, jobId: string): unknown {
  return isApiAnswer(error, 404) ? resultExpiredFailure(jobId) : error;
}

function showJob(itemRun: ItemRun, job: Job): void {
  const { run, item } = itemRun;
  itemRun.jobId = job.id;
  itemRun.job = job;
  if (job.status === 'queued') run.tell(item, { phase: 'queued', jobId: job.id });
  if (job.status !== 'processing') return;
  const { stage, progress } = job;
  run.tell(item, { phase: 'processing', jobId: job.id, stage, fraction: progress / 100 });
}

/** The outcome of an item, or of its parts, that threw an error. @throws internal errors */
export function outcomeOf(run: Run, jobId: string | null, error: unknown): FinalState {
  if (run.batch.signal.aborted) return { phase: 'left', jobId, because: 'interrupted' };
  if (error instanceof Stopped) return { phase: 'left', jobId, because: error.reason };
  if (!(error instanceof Failure) || isOfRecords(error)) throw error;
  return { phase: 'failed', jobId, failure: error };
}

/** A job that the service has, and the place that it occupies. */
interface Launched {
  readonly key: string;
  readonly job: Job;
  readonly place: JobPlace;
}

interface Launch {
  readonly order: number;
  /** Null until the attempt is on the disk. */
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
async function startJob(itemRun: ItemRun, order: number, asked: Attempt | null): Promise<Launched> {
  const { run, item } = itemRun;
  const launch: Launch = { order, intended: null, provided: null, refusedUploads: 0, failures: 0 };
  if (asked !== null) {
    if (item.input.type === 'job') launch.provided = await run.sources.provide(item, order);
    launch.intended = resumeRequest(item, asked, launch.provided);
    if (launch.intended === null) {
      const job = await findIntended(run, item, asked);
      if (job !== null) return { key: asked.key, job, place: run.launcher.join() };
      await noteNeverArrived(run, asked);
    }
  }
  try {
    for (;;) {
      const launched = await tryLaunch(itemRun, launch);
      if (launched !== null) return launched;
    }
  } finally {
    launch.provided?.use();
  }
}

/** Null to retry. */
async function tryLaunch({ run, item, use }: ItemRun, launch: Launch): Promise<Launched | null> {
  let place: JobPlace | null = null;
  try {
    if (launch.intended === null) {
      await requireKinds(run);
      launch.provided ??= await run.sources.provide(item, launch.order);
    }
    const units = launch.provided?.units ?? item.units;
    run.tell(item, { phase: 'ready' });
    place = await run.launcher.enter(launch.order, item, units);
    if (use.group?.hasFailed === true) throw unusablePartFailure();
    launch.provided?.use();
    run.tell(item, { phase: 'submitting' });
    if (launch.intended === null) launch.intended = await intendFrom(run, item, launch);
    const job = await submitRequest(run, item, launch.intended);
    run.streak.inARow = 0;
    return { key: launch.intended.key, job, place };
  } catch (error) {
    if (error instanceof Failure && isWithoutSlot(error)) {
      place?.putBack(error.facts.retryAfterMs ?? null);
      return null;
    }
    place?.withdraw();
    if (!(error instanceof Failure) || isOfRecords(error)) throw error;
    await prepareAgain(run, item, launch, error);
    return null;
  }
}

/** Code of the failure of a part that was not started because another one failed. */
export const WITHOUT_USE = 'PART_WITHOUT_USE';

function unusablePartFailure(): Failure {
  const message = 'another part has failed, so this one would be paid for nothing';
  return jobFailure(WITHOUT_USE, message, undefined, { retryable: true });
}

/** Of a run in stages: a stage that the key may not pay would make those before it useless. */
async function requireKinds({ batch, stopping }: Run): Promise<void> {
  const { jobs } = batch.connection.client;
  const signal = stopping.launching;
  await Promise.all((batch.kinds ?? []).map((kind) => jobs.requirePermission(kind, { signal })));
}

function intendFrom(run: Run, item: BatchItem, { provided }: Launch): Promise<IntendedRequest> {
  if (provided === null) throw new TypeError('an launch needs a source');
  return recordAttempt(run, item, provided);
}

/** Prepares a retry, or throws the failure. */
async function prepareAgain(run: Run, item: BatchItem, launch: Launch, failure: Failure): Promise<void> {
  const upload = uploadOf(launch.intended);
  const isLapsed = failure.facts.code === 'INPUT_NOT_USABLE' && item.input.type === 'file';
  if (isLapsed && upload !== null && launch.refusedUploads === 0) {
    launch.refusedUploads += 1;
    // The refused request created nothing: a new upload makes a new request, with a new key.
    launch.intended = null;
    launch.provided = null;
    await run.sources.forget(upload);
    return;
  }
  run.judge(failure, item);
  launch.failures += 1;
  const circumstances = {
    failures: launch.failures,
    inARow: run.streak.inARow,
    items: run.batch.itemCount ?? run.batch.tasks.length,
  };
  if (!afterTemporary(failure, { ...circumstances, isStopped: run.stopping.reason !== null })) {
    if (launch.intended === null && isAboutFile(failure)) await noteUnusable(run, item, failure);
    throw failure;
  }
  await run.pause(pauseOf(launch.failures));
}

/** Whether a failure before the request lasts until the file is replaced. */
function isAboutFile({ facts }: Failure): boolean {
  return facts.retryable !== true && (facts.category === 'refused' || facts.category === 'usage');
}

/** Without an launch, this record is all that status and reports know about the item. */
function noteUnusable({ journal, batch }: Run, item: BatchItem, { message, facts }: Failure): Promise<void> {
  return journal.add(createUnusableRecord(item, message, batch.runtime.now(), facts.code));
}

/** The upload that a request names, or null. */
function uploadOf(intended: IntendedRequest | null): string | null {
  const source = intended?.request.source;
  const isUpload = typeof source === 'object' && source !== null && 'upload_id' in source;
  return isUpload && typeof source.upload_id === 'string' ? source.upload_id : null;
}
