/** Delivers the results of an item of a batch. */

import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { onDisk } from '../../base/system-error.ts';
import type { Job } from '../../client/index.ts';
import { KINDS, type ResultPart } from '../../protocol/kinds.ts';
import {
  type DeliveryRecord,
  deliverResults,
  firstLinkExpiry,
  foundLanguage,
} from '../deliver/deliver-results.ts';
import type { DeliveredFile, ResultFile, ResultNaming } from '../deliver/download-results.ts';
import { type AddTracks, isSameFile, placeFile } from '../deliver/result-file.ts';
import type { BatchItem, ItemFile } from '../item.ts';
import { deliveryOf, languageOfItem, resultPaths } from '../plan/delivery.ts';
import { pathExists } from '../plan/file-status.ts';
import { downloadedFiles } from '../plan/item-key.ts';
import { keptResult } from '../plan/items.ts';
import { nameParts, recordFolder } from '../record-folder.ts';
import { type StoredFile, storeFiles } from '../records/intents.ts';
import { missingRecords } from './check-translation.ts';
import { rememberResult } from './remember.ts';
import { formatTimestamp, type Run } from './run.ts';

/**
 * Delivers what a succeeded job of an item has made, and records it in the journal of the folder and in the job record of
 * this machine.
 * @param key of the intent that the job belongs to
 * @throws Failure; a failed download never makes a new job
 */
export function deliverItem(
  run: Run,
  item: BatchItem,
  key: string,
  job: Job,
): Promise<readonly DeliveredFile[]> {
  const { signal, connection } = run.batch;
  const expiresAt = firstLinkExpiry(job);
  const report = (bytes: number, total: number | null) =>
    run.tell(item, { phase: 'downloading', jobId: job.id, bytes, total, expiresAt });
  const naming = namingOf(run, item, key, job);
  return deliverResults(job, {
    client: connection.client,
    naming,
    record: journalRecord(run, item, { key, job, language: naming.found }),
    addTracks: (task, work) => addTracks(run, item, task, work),
    turns: run.downloads,
    locksDir: null,
    findInput: run.inputs.find,
    signal,
    onBegin: () => report(0, null),
    onProgress: report,
  });
}

/** Adds tracks of the input to its result, and warns of those that cannot be added. */
export async function addTracks(
  { batch }: Pick<Run, 'batch'>,
  item: BatchItem,
  ...[task, work]: Parameters<AddTracks>
): Promise<string> {
  const { path, notes } = await batch.preparation.addTracks(task, work);
  for (const note of notes) batch.warn(`${item.label}: ${note}`);
  return path;
}

/** @param language of the result, see `ResultNaming` */
function journalRecord(
  run: Run,
  item: BatchItem,
  { key, job, language }: { readonly key: string; readonly job: Job; readonly language: string | null },
): DeliveryRecord {
  const { journal, batch } = run;
  const { jobs } = batch.records;
  return {
    findPublished: async (results) => [
      ...recordedFiles(run, key),
      ...(await filesOfOthers(run, job, results)),
    ],
    findReplaced: () => (batch.options.fresh ? [] : downloadedFiles(item.key, journal.intents)),
    async notePublishing(file) {
      await journal.add({ type: 'publishing', key, at: formatTimestamp(run), job_id: job.id, files: [file] });
      // The service does not state the hash of such a file, by which `jobs download` knows others.
      if (file.kept !== undefined) await run.note(() => jobs.notePublishing(job.id, file));
    },
    async noteDelivered(files) {
      const paths = files.map(({ path }) => path);
      if (storeFiles(files).length === files.length) await rememberResult(run, item, files);
      await noteDownloaded(run, item, key, { job, files, language });
      await run.note(() => jobs.markDownloaded(job.id, paths));
    },
  };
}

/** Files that an earlier run named, or was about to name, according to the journal. */
function recordedFiles({ journal }: Run, key: string): readonly StoredFile[] {
  const intent = journal.intents.byKey.get(key);
  if (intent === undefined) return [];
  const { outcome, publishing } = intent;
  return [...(publishing?.files ?? []), ...(outcome.phase === 'downloaded' ? outcome.record.files : [])];
}

/** Results that `vloc jobs` has put where this run would. Usually nothing is there, and then the record is not read. */
async function filesOfOthers(
  run: Run,
  job: Job,
  results: readonly ResultFile[],
): Promise<readonly StoredFile[]> {
  const found = await Promise.all(results.map(({ path }) => pathExists(path)));
  if (!found.includes(true)) return [];
  return (await run.note(() => run.batch.records.jobs.published(job.id))) ?? [];
}

/** Names results by the item and, for jobs that detect a language, by the language that the journal recorded. */
function namingOf(run: Run, item: BatchItem, key: string, job: Job): ResultNaming {
  const outcome = run.journal.intents.byKey.get(key)?.outcome;
  const isOver = outcome?.phase === 'finished' || outcome?.phase === 'downloaded';
  // Records of earlier versions have no language.
  const recorded = isOver ? outcome.record.language : undefined;
  return {
    stem: item.input.stem,
    asked: languageOfItem(item),
    found: recorded === undefined ? foundLanguage(job) : recorded,
    delivery: deliveryOf(run.batch.delivery, item),
    keep: keptResult(item),
  };
}

/** Records nothing if files were skipped: those that existed before are not results of this job. */
async function noteDownloaded(
  run: Run,
  item: BatchItem,
  key: string,
  { job, files, language }: DownloadedResult,
): Promise<void> {
  const stored = storeFiles(files);
  if (stored.length < files.length) return;
  const at = formatTimestamp(run);
  const missing = await missingRecords(run, item, key, files, run.journal.provenanceOf(key));
  await run.journal.add(...missing, { type: 'downloaded', key, at, job_id: job.id, files: stored, language });
}

interface DownloadedResult {
  readonly job: Job;
  readonly files: readonly DeliveredFile[];
  /** As the service found it; null if it did not say. */
  readonly language: string | null;
}

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
  const delivery = deliveryOf(batch.delivery, item);
  const intent = journal.intents.byKey.get(key);
  if (intent?.outcome.phase !== 'finished' || intent.publishing === null) return null;
  const paths = resultPaths(item, batch.delivery);
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
    if (delivery.existing === 'skip' && (await pathExists(target))) return null;
    if (!(await isSameFile(from, { bytes, sha256 }))) return null;
    files.push({ asset: asset ?? '', path: target, bytes, sha256, kept, from });
  }
  const work = await onDisk(delivery.folder, () => mkdtemp(join(recordFolder(batch.delivery), 'renamed-')));
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
  const stored = storeFiles(files);
  await journal.add({ type: 'downloaded', key, at: formatTimestamp(run), job_id, files: stored, language });
  return files.map(({ from: _, ...file }) => file);
}
