/** The batches that made or use subtitles, as this machine has recorded them. */
import { dirname, resolve } from 'node:path';
import { Failure } from '../../base/failure.ts';
import { readKeptJobs } from '../../batch/records/job-record.ts';
import { stateFolder } from '../../profiles/environment.ts';
import { filesOf } from '../batch/attention.ts';
import { type BatchFolder, commandAfterEdit, readBatchFolders } from '../batch/batch-folders.ts';
import type { Context } from '../context/context.ts';

/** The folders of results for which jobs had inputs beside these files, or were written there. @param files absolute paths */
export async function findBatches(
  files: readonly string[],
  context: Pick<Context, 'io'>,
): Promise<readonly BatchFolder[]> {
  const { io } = context;
  const folders = new Set(files.map((file) => dirname(file)));
  const jobs = await readKeptJobs(stateFolder(io.env, io.platform));
  const isNear = (path: string) => folders.has(path) || folders.has(dirname(path));
  const found = jobs.flatMap(({ output_folder: out, input_files = [] }) =>
    out !== null && [out, ...input_files].some(isNear) ? [out] : [],
  );
  const batches: BatchFolder[] = [];
  for (const folder of new Set(found)) {
    try {
      batches.push(...(await readBatchFolders(context, [folder])).batches);
    } catch (error) {
      // Its records were removed.
      if (!(error instanceof Failure && error.category === 'usage')) throw error;
    }
  }
  return batches;
}

/** The paths of the transcripts that stages have written. */
export function findSources(batches: readonly BatchFolder[]): ReadonlySet<string> {
  const paths = batches.flatMap(({ folder, records }) =>
    [...records.stages.subtitles.values()].flatMap(({ role, path }) =>
      role === 'source' ? [resolve(folder, path)] : [],
    ),
  );
  return new Set(paths);
}

/** The command that makes again what depends on a translation; null if it is not known. */
export function commandFor(
  file: string,
  language: string,
  batches: readonly BatchFolder[],
  context: Context,
): string | null {
  for (const batch of batches) {
    const item = batch.facts.items.find((each) => filesOf(each, batch.records, batch.folder)[1] === file);
    const owner = item === undefined ? null : { key: item.key, folder: batch.folder };
    if (owner !== null) return commandAfterEdit({ file, language, owner }, { batches }, context);
  }
  return null;
}
