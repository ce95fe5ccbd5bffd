/** Results of a batch on their way to this disk: a few side by side, those whose links lapse first before others. */
import { join } from 'node:path';
import type { Job } from '../../client/index.ts';
import type { StoredFile } from '../../journal/next-step.ts';
import type { BatchItem } from '../item.ts';
import type { Delivery } from '../plan/delivery.ts';
import { type DeliveredFile, deliverResults } from './deliver.ts';
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
    const delivery = deliveryOf(run.batch.delivery, item);
    const options = {
      stem: item.input.stem,
      delivery,
      adopt: recordedFiles(run, key),
      beforePublish: (file: StoredFile) =>
        run.journal.add({ type: 'publishing', key, at: timestamp(run), job_id: job.id, files: [file] }),
      hash: true,
      signal,
      onProgress: tell,
    };
    const files = await deliverResults(connection.client, job, options);
    await noteDownloaded(run, key, job, files);
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

/** The delivery of an item: into the folder that its input has in the tree of the inputs. */
export function deliveryOf(delivery: Delivery, { folder }: Pick<BatchItem, 'folder'>): Delivery {
  return folder === '' ? delivery : { ...delivery, folder: join(delivery.folder, folder) };
}

/** Files that were there before and were left alone are not the job's, so there is nothing to write down of them. */
async function noteDownloaded(
  run: Run,
  key: string,
  job: Job,
  files: readonly DeliveredFile[],
): Promise<void> {
  const stored = files.flatMap(({ asset, path, bytes, sha256 }) =>
    bytes === null || sha256 === null ? [] : [{ asset, path, sha256, size: bytes }],
  );
  if (stored.length < files.length) return;
  await run.journal.add({ type: 'downloaded', key, at: timestamp(run), job_id: job.id, files: stored });
}
