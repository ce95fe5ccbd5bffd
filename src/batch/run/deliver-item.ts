/** Delivers the results of an item of a batch. */
import type { Job } from '../../client/index.ts';
import {
  type DeliveryRecord,
  deliverResults,
  firstLinkExpiry,
  foundLanguage,
} from '../deliver/deliver-results.ts';
import type { DeliveredFile, ResultFile, ResultNaming } from '../deliver/download-results.ts';
import type { AddTracks } from '../deliver/with-tracks.ts';
import type { BatchItem } from '../item.ts';
import { deliveryOf } from '../plan/delivery.ts';
import { exists } from '../plan/file-status.ts';
import { downloadedFiles } from '../plan/item-key.ts';
import { keptResult } from '../plan/items.ts';
import { languageOfItem } from '../plan/result-paths.ts';
import { type StoredFile, storeFiles } from '../records/intents.ts';
import { type Run, timestamp } from './run.ts';

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
      await journal.add({ type: 'publishing', key, at: timestamp(run), job_id: job.id, files: [file] });
      // The service does not state the hash of such a file, by which `jobs download` knows others.
      if (file.kept !== undefined) await run.note(() => jobs.notePublishing(job.id, file));
    },
    async noteDelivered(files) {
      const paths = files.map(({ path }) => path);
      await noteDownloaded(run, key, job, { files, language });
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
  const found = await Promise.all(results.map(({ path }) => exists(path)));
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
  key: string,
  job: Job,
  { files, language }: { readonly files: readonly DeliveredFile[]; readonly language: string | null },
): Promise<void> {
  const stored = storeFiles(files);
  if (stored.length < files.length) return;
  const at = timestamp(run);
  await run.journal.add({ type: 'downloaded', key, at, job_id: job.id, files: stored, language });
}
