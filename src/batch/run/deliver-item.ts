/** Delivers the results of an item of a batch. */

import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { onDisk } from '../../base/system-error.ts';
import type { Job } from '../../client/index.ts';
import { KINDS, type ResultPart } from '../../protocol/kinds.ts';
import { deliverResults, firstLinkExpiry, foundLanguage, rowsOfJob } from '../deliver/deliver-results.ts';
import type { DeliveredFile, DeliveryRecord, ResultNaming } from '../deliver/download-results.ts';
import { publish, rowsIn } from '../deliver/publish.ts';
import { type AddTracks, isSameFile } from '../deliver/result-file.ts';
import { deliveryOf, languageOfItem, resultPaths } from '../inputs/delivery.ts';
import { pathExists } from '../inputs/file-status.ts';
import { keptResult } from '../inputs/items.ts';
import type { BatchItem, ItemFile } from '../item.ts';
import type { ItemProvenance } from '../item-provenance.ts';
import { nameWork } from '../kept-tracks.ts';
import { type StoredFile, storeFiles } from '../records/attempts.ts';
import type { OutputRow } from '../records/outputs.ts';
import { makeScratch, nameParts } from '../records/record-folder.ts';
import { missingRecords } from './check-translation.ts';
import { rememberResult } from './remember.ts';
import { formatTimestamp, type Run } from './run.ts';

/**
 * Delivers what a succeeded job of an item has made, and records it in the journal of the folder and in the job record of
 * this machine.
 * @param key of the attempt that the job belongs to
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
    addTracks: (task, work) => addTracks(run, item, { task, made: run.journal.provenanceOf(key) }, work),
    turns: run.downloads,
    locksDir: null,
    findInput: run.inputs.find,
    signal,
    onBegin: () => report(0, null),
    onProgress: report,
  });
}

/** Adds tracks of the input to its result and marks it, and warns of tracks that cannot be added. @param made how it was made */
export async function addTracks(
  { batch }: Pick<Run, 'batch'>,
  item: BatchItem,
  { task, made }: { readonly task: Parameters<AddTracks>[0]; readonly made: ItemProvenance | null },
  work: Parameters<AddTracks>[1],
): Promise<string> {
  const making = { engines: made?.engines ?? null, atMs: batch.runtime.now() };
  const { path, notes } = await batch.preparation.addTracks({ ...task, made: making }, work);
  for (const note of notes) batch.warn(`${item.label}: ${note}`);
  return path;
}

/** @param language of the result, see `ResultNaming` */
function journalRecord(
  run: Run,
  item: BatchItem,
  { key, job, language }: { readonly key: string; readonly job: Job; readonly language: string | null },
): DeliveryRecord {
  const { jobs } = run.batch.records;
  const rows = rowsIn(run.journal, { item: item.key, step: 'result' }, { made: job.id });
  return {
    find: async (path) => [...(await rows.find(path)), ...(await rowsOfOthers(run, job, path))],
    async add(files) {
      await rows.add(files);
      // The service does not state the hash of such a file, by which `jobs download` knows others.
      const kept = files.filter((file) => file.kept !== undefined);
      for (const file of kept) await run.note(() => jobs.notePublishing(job.id, file));
    },
    async noteDelivered(files) {
      const stored = storeFiles(files);
      // Files that were skipped existed before and are not results of this job.
      if (stored.length === files.length) {
        await rememberResult(run, item, files);
        const at = formatTimestamp(run);
        const missing = await missingRecords(run, item, key, files, run.journal.provenanceOf(key));
        const delivered = { type: 'downloaded', key, at, job_id: job.id, files: stored, language } as const;
        await run.journal.add(...missing, rows.placed(stored), delivered);
      }
      const paths = files.map(({ path }) => path);
      await run.note(() => jobs.markDownloaded(job.id, paths));
    },
  };
}

/** Results that `vloc jobs` has put where this run would. Usually nothing is there, and then the record is not read. */
async function rowsOfOthers(run: Run, job: Job, path: string): Promise<readonly OutputRow[]> {
  if (!(await pathExists(path))) return [];
  const files = (await run.note(() => run.batch.records.jobs.published(job.id))) ?? [];
  return rowsOfJob(job.id, files);
}

/** Names results by the item and, for jobs that detect a language, by the language that the journal recorded. */
function namingOf(run: Run, item: BatchItem, key: string, job: Job): ResultNaming {
  const attempt = run.journal.attempts.byKey.get(key);
  return {
    stem: item.input.stem,
    asked: languageOfItem(item),
    found: attempt?.finished_at == null ? foundLanguage(job) : attempt.language,
    delivery: deliveryOf(run.batch.delivery, item),
    keep: keptResult(item),
  };
}

/**
 * Copies the files that the journal knows under an earlier name, and records the copies as the result.
 * @param key of the attempt
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
  const attempt = journal.attempts.byKey.get(key);
  const isThere = attempt?.state === 'succeeded' || attempt?.state === 'downloaded';
  if (!isThere || attempt.files.length === 0) return null;
  const paths = resultPaths(item, batch.delivery);
  // In the order of the paths.
  const assets = Object.entries<ResultPart>(KINDS[item.kind].result).flatMap(([name, { type }]) =>
    type === 'asset' ? [name] : [],
  );
  const known = nameParts(item.kind, attempt.files);
  // A run that was killed while it named the files has recorded the paths that they have now.
  if (paths === null || paths.length !== known.length || known.some(({ path }) => paths.includes(path)))
    return null;
  const olds: string[] = [];
  const files: StoredFile[] = [];
  for (const [place, path] of paths.entries()) {
    const file = known.find(({ asset }) => asset === assets[place]);
    if (file === undefined || file.kept !== nameWork(keptResult(item))) return null;
    const { path: old, size: bytes, sha256 } = file;
    if (delivery.existing === 'skip' && (await pathExists(path))) return null;
    if (!(await isSameFile(old, { bytes, sha256 }))) return null;
    olds.push(old);
    files.push({ ...file, asset: assets[place], path });
  }
  const work = await makeScratch(batch.delivery);
  try {
    const copies = olds.map((_, place) => join(work, `${place}`));
    for (const [place, old] of olds.entries()) {
      await onDisk(files[place]?.path ?? '', () => copyFile(old, copies[place] ?? ''));
    }
    const rows = rowsIn(journal, { item: item.key, step: 'result' }, { made: attempt.job_id ?? '' });
    const placing = { rows, overwrite: delivery.existing === 'replace', findInput: run.inputs.find };
    const outputs = files.map((file, place) => ({ from: copies[place] ?? '', file }));
    const delivered = { type: 'downloaded', key, at: formatTimestamp(run), files } as const;
    await publish(outputs, placing, () => journal.add(rows.placed(files), delivered));
  } finally {
    await rm(work, { recursive: true, force: true }).catch(() => undefined);
  }
  return files.map(({ asset = '', path, size: bytes, sha256, kept }) => ({
    ...{ asset, path, bytes, sha256, kept },
  }));
}
