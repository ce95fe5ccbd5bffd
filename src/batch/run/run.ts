/** The state that the modules of one run share. */

import type PQueue from 'p-queue';
import { Failure } from '../../base/failure.ts';
import type { Inputs } from '../../base/find-input.ts';
import type { Job, WaitForJob } from '../../client/index.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { Units } from '../bill.ts';
import type { BatchItem, ItemState } from '../item.ts';
import type { BatchRecord } from '../records/batch-records.ts';
import type { Batch } from './batch.ts';
import type { BatchJournal } from './journal.ts';
import type { Launcher } from './launcher.ts';
import type { Preparations } from './preparations.ts';
import type { Rebuild } from './rebuild.ts';
import type { Recall } from './recall.ts';
import type { SourceProvider } from './sources.ts';
import type { Stopping } from './stopping.ts';

export interface Run {
  readonly batch: Batch;
  readonly journal: BatchJournal;
  readonly stopping: Stopping;
  readonly launcher: Launcher;
  readonly sources: SourceProvider;
  readonly preparations: Preparations;
  /** Turns of downloads; results whose links expire first go first. */
  readonly downloads: PQueue;
  /** Waits for one job; several waits share their requests. */
  readonly wait: WaitForJob;
  /** See `nameBatch`. */
  readonly batchReference: string;
  /** Finds jobs that the journal lacks. */
  readonly rebuild: Rebuild;
  /** How many jobs the run waits for. */
  readonly following: { jobs: number };
  /** Temporary failures, and addresses refused for lack of credits, since the last success. */
  readonly streak: { inARow: number };
  tell(item: BatchItem, state: ItemState): void;
  /** Counts the cost of a job and returns the record of it. @param key of its attempt */
  takeBill(item: BatchItem, key: string, job: Job): readonly BatchRecord[];
  /** Counts what arriving items cost in earlier runs. */
  countBills(items: readonly Pick<BatchItem, 'key' | 'kind'>[]): void;
  /** False only if these units would certainly exceed --max-credits. */
  canAfford(kind: JobKind, units: Units | null): boolean;
  /** Files of the user that no result may replace. */
  readonly inputs: Inputs;
  readonly note: TryRecord;
  readonly recalled: RecalledLines;
  /** @throws Stopped if the run stops meanwhile */
  pause(ms: number): Promise<void>;
  /** Counts a failure, and stops the run if it concerns all items. Returns the failure. */
  judge(failure: Failure, item: BatchItem): Failure;
}

/** The lines that the run takes from the translation memory. */
interface RecalledLines {
  /** See `RecallSource`. */
  readonly recorded: Map<string, Recall>;
  /** Whether it was said that the memory cannot be written. */
  isWarned: boolean;
}

/** RFC 3339, for records. */
export function formatTimestamp(run: Run): string {
  return new Date(run.batch.runtime.now()).toISOString();
}

export type TryRecord = <T>(work: () => Promise<T>) => Promise<T | undefined>;

/** @param warn called for the first failure only, since later ones have the same cause */
export function createNote(warn: (text: string) => void): TryRecord {
  let isWarned = false;
  return async (work) => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Failure && error.facts.category === 'disk')) throw error;
      if (!isWarned)
        warn(
          `${error.facts.message}. The run continues: the folder of the results has its own record. VLOC_STATE_DIR names the folder of this machine's records.`,
        );
      isWarned = true;
      return undefined;
    }
  };
}
