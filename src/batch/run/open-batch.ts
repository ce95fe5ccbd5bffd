/** Opens a folder of results for one run: takes its lock, and reads what earlier runs have recorded. */
import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Delivery } from '../inputs/delivery.ts';
import type { Choices, Recorded } from '../plan/decision.ts';
import { type BatchPlace, lockPath, recordFolder, scratchFolder } from '../records/record-folder.ts';
import type { RunOptions } from './batch.ts';
import { type BatchJournal, openBatchJournal } from './journal.ts';
import { hashInput } from './known-uploads.ts';

export interface OpenBatch {
  readonly journal: BatchJournal;
  /** The current records; the facts are read once per call. */
  recorded(): Recorded;
  /** Releases the lock. A run that recorded nothing leaves no new folder behind. */
  close(): Promise<void>;
}

/**
 * Opens the batch, or the shard, for its only run.
 * @throws Failure: `temporary` (BATCH_LOCKED) while another process works on it, `usage` (SHARDS_DIFFER), `disk`
 */
export async function openBatch({ folder, shard }: BatchPlace): Promise<OpenBatch> {
  const place = { folder, shard };
  const missing = await findMissing([recordFolder(place), dirname(recordFolder(place)), folder]);
  const journal = await openBatchJournal(place);
  // Those of a run that was killed. Only tidies up.
  await rm(scratchFolder(place), { recursive: true, force: true }).catch(() => undefined);
  return {
    journal,
    recorded: () => recordedIn(journal),
    async close() {
      const isUnused = journal.isEmpty;
      const isOurs = isUnused && missing.includes(recordFolder(place)) && (await isHeld(journal));
      // Before the lock is released, so that the records of the next run stay.
      if (isOurs) await removeRecords(place);
      await journal.close();
      // Folders that hold anything stay.
      if (isOurs) for (const path of missing) await rmdir(path).catch(() => undefined);
    },
  };
}

/** Whether no other process has taken over the folder, for example while this one was suspended. */
async function isHeld(journal: BatchJournal): Promise<boolean> {
  // Adding nothing checks the lock as every write does.
  return journal.add().then(
    () => true,
    () => false,
  );
}

/** Copies the current attempts and facts. The facts are read once, since a decision is made for each item. */
export function recordedIn({ attempts, facts, findOutputs, provenanceOf }: BatchJournal): Recorded {
  return { attempts, facts, findOutputs, provenances: { get: provenanceOf } };
}

/** How the options of a run treat what earlier runs did. @param nowMs milliseconds since 1970 */
export function choicesOf(
  { fresh, retryFailed, skipDone, redub }: Pick<RunOptions, 'fresh' | 'retryFailed' | 'skipDone' | 'redub'>,
  { existing, ...place }: Pick<Delivery, 'existing'> & Partial<BatchPlace>,
  nowMs: number,
  signal: AbortSignal,
): Choices {
  const hashFile = (path: string) => hashInput(path, signal);
  const { folder } = place;
  return {
    ...{ now: nowMs, fresh, retryFailed, skipDone, hashFile },
    replace: existing === 'replace',
    ...(redub === undefined || folder === undefined
      ? {}
      : { redub: { ...redub, folder: recordFolder({ ...place, folder }) } }),
  };
}

/** The folders that do not exist, in their order. */
async function findMissing(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(paths.map((path) => stat(path).catch(() => null)));
  return [...new Set(paths.filter((_, position) => found[position] === null))];
}

async function removeRecords(place: BatchPlace): Promise<void> {
  const names = await readdir(recordFolder(place)).catch(() => []);
  const files = names.map((name) => join(recordFolder(place), name));
  for (const path of files)
    if (path !== lockPath(place)) await rm(path, { force: true }).catch(() => undefined);
}
