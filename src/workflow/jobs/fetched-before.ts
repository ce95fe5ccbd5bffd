/** Results that this machine has fetched already, of a service that states no hash to know them by. */
import { stat } from 'node:fs/promises';
import { type DeliveredFile, isKnown, type ResultFile } from '../../batch/run/deliver.ts';
import { isSameFile } from '../../batch/run/same-file.ts';
import { unlessDiskFails } from '../../errors/system-error.ts';
import type { JobEntry, JobRecord } from '../../journal/job-record.ts';

/**
 * The files of a job, where all of them were fetched to these very places and are there. Null when one is not, when
 * another job has written to its place since, and where hashes tell it better.
 */
export async function findFetched(
  record: Pick<JobRecord, 'list'>,
  jobId: string,
  results: readonly ResultFile[],
): Promise<readonly DeliveredFile[] | null> {
  if (results.every(({ asset }) => isKnown(asset))) return null;
  const jobs = await unlessDiskFails<readonly JobEntry[], readonly JobEntry[]>(() => record.list(), []);
  const isOwn = ({ path }: ResultFile) => {
    const writers = jobs.filter(({ downloaded }) => downloaded?.includes(path) === true);
    return writers.length === 1 && writers[0]?.id === jobId;
  };
  if (!results.every(isOwn)) return null;
  for (const result of results) if (!(await isThere(result))) return null;
  return results.map(({ name, path }) => ({ asset: name, path, bytes: null, sha256: null, skipped: true }));
}

async function isThere({ path, asset }: ResultFile): Promise<boolean> {
  const { size_bytes: bytes, sha256 } = asset;
  if (bytes !== null && sha256 !== null) return isSameFile(path, { bytes, sha256 });
  const found = await stat(path).catch(() => null);
  return found?.isFile() === true && (bytes === null || found.size === bytes);
}
