/** Records deliveries of `vloc jobs wait|download` in the job record of this machine. */

import { stat } from 'node:fs/promises';
import { Failure } from '../../base/failure.ts';
import { unlessDiskFails } from '../../base/system-error.ts';
import type { Job } from '../../client/index.ts';
import type { Delivery } from '../plan/delivery.ts';
import type { JobEntry, JobRecord } from '../records/job-record.ts';
import type { DeliveryRecord } from './deliver-results.ts';
import { type DeliveredFile, isAsset, isVerifiable, type ResultFile } from './download-results.ts';
import { isSameFile } from './result-file.ts';

/** The record of one delivery. A job record that cannot be read or written never makes a delivery fail. */
export function recordOnMachine(record: JobRecord, job: Job, existing: Delivery['existing']): DeliveryRecord {
  return {
    findDelivered: async (results) => (existing === 'refuse' ? findFetched(record, job.id, results) : null),
    findPublished: async () =>
      existing === 'replace' ? undefined : unlessDiskFails(() => record.published(job.id), []),
    notePublishing: (file) => unlessDiskFails(() => record.notePublishing(job.id, file), undefined),
    noteDelivered: (files, results) => noteDownloaded(record, job, files, results),
  };
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
