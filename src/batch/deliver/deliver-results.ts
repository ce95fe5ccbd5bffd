/**
 * Delivers the results of a finished job: waits for a turn; locks, downloads, renames and records the files.
 * Batch runs and `vloc jobs wait|download` share it; they differ in the records that they keep.
 */
import { hash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type PQueue from 'p-queue';
import { Failure, jobFailure, temporaryFailure } from '../../base/failure.ts';
import { unlessDiskFails } from '../../base/system-error.ts';
import { inTurn } from '../../base/together.ts';
import { assetsOf, type Job } from '../../client/index.ts';
import type { Delivery } from '../inputs/delivery.ts';
import type { StoredFile } from '../records/attempts.ts';
import { describeHolder } from '../records/hold.ts';
import type { JobEntry, JobRecord } from '../records/job-record.ts';
import { type Lock, tryLock } from '../records/lock.ts';
import type { OutputRow } from '../records/outputs.ts';
import {
  type DeliveredFile,
  type DeliveryRecord,
  type DownloadResultsOptions,
  downloadResults,
  isAsset,
  isVerifiable,
  type ResultFile,
  resultFiles,
} from './download-results.ts';
import { isSameFile } from './result-file.ts';

/** Downloads at a time: one rarely uses the whole bandwidth, and more of them delay each other. */
export const DOWNLOADS = 3;

interface DeliveryOptions extends DownloadResultsOptions {
  /** Turns of downloads; results whose links expire first go first. */
  readonly turns: PQueue;
  /** State folder for locks of single files; null when the caller has locked the whole results folder. */
  readonly locksDir: string | null;
  /** Called with the paths of the files before anything is done. @throws Failure if another job of the caller writes one of them */
  readonly claim?: (paths: readonly string[]) => void;
  /** Called when the turn begins. */
  readonly onBegin?: () => void;
}

/**
 * Delivers all files of a job.
 * @throws Failure: that of a job that did not succeed; `usage` for an existing file that may not be replaced; `disk`,
 *   `expired`, `temporary`; the reason of the signal
 */
export async function deliverResults(job: Job, options: DeliveryOptions): Promise<readonly DeliveredFile[]> {
  const failure = unsuccessfulJobFailure(job);
  if (failure !== null) throw failure;
  const { record, naming, turns, locksDir, signal } = options;
  signal.throwIfAborted();
  const results = resultFiles(job, naming);
  const paths = results.map(({ path }) => path);
  options.claim?.(paths);
  const earlier = await record.findDelivered?.(results);
  if (earlier != null) {
    await record.noteDelivered(earlier, results);
    return earlier;
  }
  const expiryMs = Date.parse(firstLinkExpiry(job) ?? '');
  const download = async () => {
    options.onBegin?.();
    const fetch = () => downloadResults(job, results, options);
    return locksDir === null ? fetch() : withTargets(locksDir, paths, fetch);
  };
  return inTurn(turns, signal, download, Number.isNaN(expiryMs) ? NEVER_MS : expiryMs);
}

/** Far in the future and still comparable as a number. */
const NEVER_MS = Number.MAX_SAFE_INTEGER;

/**
 * When the first link to a result expires, RFC 3339 in UTC; null before there are links, and if the service does not
 * state it.
 */
export function firstLinkExpiry(job: Job): string | null {
  const times = [job.expires_at, ...assetTimes(job)].flatMap((time) => {
    const ms = Date.parse(time ?? '');
    return Number.isNaN(ms) ? [] : [ms];
  });
  return times.length === 0 ? null : new Date(Math.min(...times)).toISOString();
}

/** A result without a link is refused when it is downloaded, not when the end of the job is recorded. */
function assetTimes(job: Job): readonly (string | null)[] {
  try {
    return assetsOf(job).map(({ asset }) => asset.expires_at);
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}

/** The language that the job states for its result; null if it states none. */
export function foundLanguage({ result }: Pick<Job, 'result'>): string | null {
  const found = result?.language;
  return typeof found === 'string' && found !== '' ? found : null;
}

/** Why a finished job has no result; null for a job that succeeded. */
export function unsuccessfulJobFailure(job: Job): Failure | null {
  if (job.status === 'succeeded') return null;
  if (job.status === 'cancelled') {
    return jobFailure(
      'JOB_CANCELLED',
      'the job was cancelled',
      'The reservation was released. For a new job, repeat the command that created this one.',
      { jobId: job.id },
    );
  }
  const { code, message, retryable } = job.error ?? {
    code: 'JOB_FAILED',
    message: 'the service gave no reason',
    retryable: false,
  };
  return jobFailure(
    code,
    message,
    retryable
      ? 'The reservation was released; run the same command again.'
      : 'The reservation was released; running the same again will not help.',
    { retryable, jobId: job.id },
  );
}

/** Folder of the locks below the state folder, so that no lock files are beside the results. */
const LOCKS_FOLDER = 'downloads';

/**
 * Locks files while the work runs. If the state folder is not writable, the work runs without locks.
 * @param paths absolute
 * @throws Failure (`temporary`) if another process downloads one of them; errors of the work
 */
export async function withTargets<T>(
  stateDir: string,
  paths: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const locks: Lock[] = [];
  try {
    for (const path of paths) locks.push(...(await lockTarget(stateDir, path)));
    return await work();
  } finally {
    await Promise.allSettled(locks.map((lock) => lock.release()));
  }
}

async function lockTarget(stateDir: string, path: string): Promise<readonly Lock[]> {
  const file = join(stateDir, LOCKS_FOLDER, `${hash('sha256', path)}.lock`);
  try {
    const attempt = await tryLock(file);
    if (attempt.taken) return [attempt.lock];
    const { who, ifDead } = describeHolder(attempt, file);
    const message = `another vloc is fetching ${path}: ${who}`;
    const advice = `Wait until it is done, then run the same command again.${ifDead}`;
    throw temporaryFailure('FILE_LOCKED', message, advice, { retryable: true });
  } catch (error) {
    if (error instanceof Failure && error.facts.category === 'disk') return [];
    throw error;
  }
}

/** The record of one delivery. A job record that cannot be read or written never makes a delivery fail. */
export function recordOnMachine(record: JobRecord, job: Job, existing: Delivery['existing']): DeliveryRecord {
  return {
    findDelivered: async (results) => (existing === 'refuse' ? findFetched(record, job.id, results) : null),
    isAnew: existing === 'replace',
    async find(path) {
      const rows = await unlessDiskFails(() => record.published(job.id), []);
      return rowsOfJob(job.id, rows).filter((row) => row.path === path);
    },
    async add(files) {
      await unlessDiskFails(
        () => Promise.all(files.map((file) => record.notePublishing(job.id, file))),
        undefined,
      );
    },
    noteDelivered: (files, results) => noteDownloaded(record, job, files, results),
  };
}

/** The files of a job in the record of this machine. */
export function rowsOfJob(id: string, files: readonly StoredFile[]): readonly OutputRow[] {
  return files.map((file) => ({ ...file, item: id, step: 'result', made: id }));
}

/** For completion and `jobs download --all-finished`. A skipped file counts only if its bytes are those of the job. */
async function noteDownloaded(
  record: JobRecord,
  job: Job,
  files: readonly DeliveredFile[],
  results: readonly ResultFile[],
): Promise<void> {
  try {
    const entry = (await record.list()).find(({ id }) => id === job.id);
    // The record has no other entries of jobs from other machines either.
    if (entry === undefined) return;
    await record.see(job.id, job.status);
    const isAnySkipped = files.some(({ skipped }) => skipped);
    if (isAnySkipped && (entry.downloaded !== null || !(await areResults(files, results)))) return;
    const paths = files.map(({ path }) => path);
    await record.markDownloaded(job.id, paths);
  } catch (error) {
    if (!(error instanceof Failure && error.facts.category === 'disk')) throw error;
  }
}

async function areResults(files: readonly DeliveredFile[], results: readonly ResultFile[]): Promise<boolean> {
  for (const { path, skipped } of files) {
    const asset = results.find((result) => result.path === path)?.asset;
    if (skipped && (asset === undefined || !(await isAsset(path, asset)))) return false;
  }
  return true;
}

/**
 * The files of a job that this machine has downloaded before, of a service that states no hashes to verify them by. Null if a
 * file is missing, if another job has written to its path since, and if hashes tell more.
 */
export async function findFetched(
  record: Pick<JobRecord, 'list'>,
  jobId: string,
  results: readonly ResultFile[],
): Promise<readonly DeliveredFile[] | null> {
  if (results.every(({ asset }) => isVerifiable(asset))) return null;
  const jobs = await unlessDiskFails<readonly JobEntry[], readonly JobEntry[]>(() => record.list(), []);
  const isOwn = ({ path }: ResultFile) => {
    const writers = jobs.filter(({ downloaded }) => downloaded?.includes(path) === true);
    return writers.length === 1 && writers[0]?.id === jobId;
  };
  if (!results.every(isOwn)) return null;
  for (const result of results) if (!(await isPresent(result))) return null;
  return results.map(({ name, path }) => ({ asset: name, path, bytes: null, sha256: null, skipped: true }));
}

async function isPresent({ path, asset }: ResultFile): Promise<boolean> {
  const { size_bytes: bytes, sha256 } = asset;
  if (bytes !== null && sha256 !== null) return isSameFile(path, { bytes, sha256 });
  const found = await stat(path).catch(() => null);
  return found?.isFile() === true && (bytes === null || found.size === bytes);
}
