/** What the record of this machine learns of results that were fetched. */
import type { DeliveredFile, ResultFile } from '../../batch/run/deliver.ts';
import { isSameFile } from '../../batch/run/same-file.ts';
import type { Job } from '../../client/index.ts';
import { Failure } from '../../errors/failure.ts';
import type { JobRecord } from '../../journal/job-record.ts';

/**
 * For completion and `jobs download --all-finished`; a record that cannot be written is no reason to fail.
 * @param results the files of the job: one that was left alone counts only if it is that job's
 */
export async function noteDownloaded(
  record: JobRecord,
  job: Job,
  files: readonly DeliveredFile[],
  results: readonly ResultFile[],
): Promise<void> {
  try {
    const entry = (await record.list()).find(({ id }) => id === job.id);
    // Of jobs that others have made the record knows nothing else either.
    if (entry === undefined) return;
    await record.see(job.id, job.status);
    const isLeft = files.some(({ skipped }) => skipped);
    if (isLeft && (entry.downloaded !== null || !(await areResults(files, results)))) return;
    await record.markDownloaded(
      job.id,
      files.map(({ path }) => path),
    );
  } catch (error) {
    if (!(error instanceof Failure && error.facts.category === 'disk')) throw error;
  }
}

async function areResults(files: readonly DeliveredFile[], results: readonly ResultFile[]): Promise<boolean> {
  for (const { path, skipped } of files) {
    const asset = results.find((result) => result.path === path)?.asset;
    if (skipped && !(await isAsset(path, asset))) return false;
  }
  return true;
}

/** False also where the service does not tell enough. */
async function isAsset(path: string, asset: ResultFile['asset'] | undefined): Promise<boolean> {
  const { size_bytes: bytes = null, sha256 = null } = asset ?? {};
  return bytes !== null && sha256 !== null && (await isSameFile(path, { bytes, sha256 }));
}
