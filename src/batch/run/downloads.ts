/** Results of a batch on their way to this disk: a few side by side, those whose links lapse first before others. */
import { join } from 'node:path';
import type { Job } from '../../client/index.ts';
import type { StoredFile } from '../../journal/next-step.ts';
import type { BatchItem } from '../item.ts';
import type { Delivery } from '../plan/delivery.ts';
import { exists } from '../plan/file-status.ts';
import { languageOfItem } from '../plan/result-paths.ts';
import { type DeliveredFile, deliverResults, foundLanguage, type Naming, resultFiles } from './deliver.ts';
import { whenLinksLapse } from './links-lapse.ts';
import { type Run, timestamp } from './run.ts';

/** One seldom fills the line, and more make each of them late. */
export const DOWNLOADS = 3;

/** Far in the future and still a number that can be compared. */
const NEVER_MS = Number.MAX_SAFE_INTEGER;

/**
 * Fetches what a succeeded job has made, and writes it down once all of it is on the disk.
 * @param key of the intent that the job belongs to
 * @throws Failure; a failed download never makes a new job
 */
export async function downloadResults(
  run: Run,
  item: BatchItem,
  key: string,
  job: Job,
): Promise<readonly DeliveredFile[]> {
  const { signal, connection, records } = run.batch;
  const expiresAt = whenLinksLapse(job);
  const lapseMs = Date.parse(expiresAt ?? '');
  const end = await run.downloads.enter(Number.isNaN(lapseMs) ? NEVER_MS : lapseMs, signal);
  const tell = (bytes: number, total: number | null) =>
    run.tell(item, { phase: 'downloading', jobId: job.id, bytes, total, expiresAt });
  try {
    tell(0, null);
    const naming = namingOf(run, item, key, job);
    const options = {
      ...naming,
      findInput: run.inputs.find,
      adopt: [...recordedFiles(run, key), ...(await filesOfOthers(run, job, naming))],
      beforePublish: (file: StoredFile) =>
        run.journal.add({ type: 'publishing', key, at: timestamp(run), job_id: job.id, files: [file] }),
      hash: true,
      signal,
      onProgress: tell,
    };
    const files = await deliverResults(connection.client, job, options);
    await noteDownloaded(run, key, job, { files, language: naming.found });
    await run.note(() =>
      records.jobs.markDownloaded(
        job.id,
        files.map(({ path }) => path),
      ),
    );
    return files;
  } finally {
    end();
  }
}

/** What the journal knows of files that an earlier run has given their names, or was about to. */
function recordedFiles({ journal }: Run, key: string): readonly StoredFile[] {
  const intent = journal.intents.byKey.get(key);
  if (intent === undefined) return [];
  const { outcome, publishing } = intent;
  return [...(publishing?.files ?? []), ...(outcome.phase === 'downloaded' ? outcome.record.files : [])];
}

/** Results that `vloc jobs` has put where this run would. Mostly nothing is there, and then the record need not be read. */
async function filesOfOthers(run: Run, job: Job, naming: Naming): Promise<readonly StoredFile[]> {
  const found = await Promise.all(resultFiles(job, naming).map(({ path }) => exists(path)));
  if (!found.includes(true)) return [];
  return (await run.note(() => run.batch.records.jobs.published(job.id))) ?? [];
}

/** What the results of an item are named by: the item, and the language that the journal has of the job, if it is to find it out. */
function namingOf(run: Run, item: BatchItem, key: string, job: Job): Naming {
  const outcome = run.journal.intents.byKey.get(key)?.outcome;
  const isOver = outcome?.phase === 'finished' || outcome?.phase === 'downloaded';
  // Records of earlier versions do not say it.
  const recorded = isOver ? outcome.record.language : undefined;
  return {
    stem: item.input.stem,
    asked: languageOfItem(item),
    found: recorded === undefined ? foundLanguage(job) : recorded,
    delivery: deliveryOf(run.batch.delivery, item),
  };
}

/** The delivery of an item: into the folder that its input has in the tree of the inputs. */
export function deliveryOf(delivery: Delivery, { folder }: Pick<BatchItem, 'folder'>): Delivery {
  return folder === '' ? delivery : { ...delivery, folder: join(delivery.folder, folder) };
}

/** Files that were there before and were left alone are not the job's, so there is nothing to write down of them. */
async function noteDownloaded(
  run: Run,
  key: string,
  job: Job,
  { files, language }: { readonly files: readonly DeliveredFile[]; readonly language: string | null },
): Promise<void> {
  const stored = files.flatMap(({ asset, path, bytes, sha256 }) =>
    bytes === null || sha256 === null ? [] : [{ asset, path, sha256, size: bytes }],
  );
  if (stored.length < files.length) return;
  const at = timestamp(run);
  await run.journal.add({ type: 'downloaded', key, at, job_id: job.id, files: stored, language });
}
