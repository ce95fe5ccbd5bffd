/** The result of an input that was renamed: a copy of the one under the earlier name, which stays. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { onDisk } from '../../base/system-error.ts';
import { KINDS, type ResultPart } from '../../protocol/kinds.ts';
import { isSameFile, placeFile } from '../deliver/result-file.ts';
import type { BatchItem, ItemFile } from '../item.ts';
import { exists } from '../plan/file-status.ts';
import { resultPaths } from '../plan/result-paths.ts';
import { nameParts, recordFolder } from '../record-folder.ts';
import { storeFiles } from '../records/intents.ts';
import { type Run, timestamp } from './run.ts';

/**
 * Copies the files that the journal knows under an earlier name, and records the copies as the result.
 * @param key of the intent
 * @returns null if they are not all there and unchanged: then the service is asked for the result
 * @throws Failure: `usage` for an existing file that may not be replaced, `disk`
 */
export async function copyRenamed(
  run: Run,
  item: BatchItem,
  key: string,
): Promise<readonly ItemFile[] | null> {
  const { journal, batch } = run;
  const { delivery } = batch;
  const intent = journal.intents.byKey.get(key);
  if (intent?.outcome.phase !== 'finished' || intent.publishing === null) return null;
  const paths = resultPaths(item, delivery);
  // In the order of the paths.
  const assets = Object.entries<ResultPart>(KINDS[item.kind].result).flatMap(([name, { type }]) =>
    type === 'asset' ? [name] : [],
  );
  const known = nameParts(item.kind, intent.publishing.files);
  // A run that was killed while it named the files has recorded the paths that they have now.
  if (paths === null || paths.length !== known.length || known.some(({ path }) => paths.includes(path)))
    return null;
  const files: (ItemFile & { readonly from: string })[] = [];
  for (const [place, target] of paths.entries()) {
    const file = known.find(({ asset }) => asset === assets[place]);
    if (file === undefined || file.kept !== item.keep) return null;
    const { asset, path: from, size: bytes, sha256, kept } = file;
    if (delivery.existing === 'skip' && (await exists(target))) return null;
    if (!(await isSameFile(from, { bytes, sha256 }))) return null;
    files.push({ asset: asset ?? '', path: target, bytes, sha256, kept, from });
  }
  const work = await onDisk(delivery.folder, () => mkdtemp(join(recordFolder(delivery), 'renamed-')));
  try {
    for (const { from, path, bytes, sha256 } of files) {
      // A killed run may have copied it before.
      if (bytes !== null && sha256 !== null && (await isSameFile(path, { bytes, sha256 }))) continue;
      const copy = join(work, 'copy');
      await onDisk(path, () => copyFile(from, copy));
      await placeFile(copy, path, delivery.existing === 'replace', run.inputs.find);
    }
  } finally {
    await rm(work, { recursive: true, force: true }).catch(() => undefined);
  }
  const { job_id, language } = intent.outcome.record;
  await journal.add({
    type: 'downloaded',
    key,
    at: timestamp(run),
    job_id,
    files: storeFiles(files),
    language,
  });
  return files.map(({ from: _, ...file }) => file);
}
