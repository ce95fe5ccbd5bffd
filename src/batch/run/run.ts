/** What the parts of one run share. */
import type { Failure, Job } from '../../client/index.ts';
import type { Inputs } from '../../disk/find-input.ts';
import type { LogRecord } from '../../journal/record-line.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { BatchItem, ItemState, Units } from '../item.ts';
import type { Batch, Task } from './batch.ts';
import type { BatchJournal } from './journal.ts';
import type { Launcher } from './launcher.ts';
import type { Limiter } from './limiter.ts';
import type { Note } from './note.ts';
import type { Preparations } from './preparations.ts';
import type { Rebuild } from './rebuild.ts';
import type { Sources } from './sources.ts';
import type { Stopping } from './stopping.ts';

export interface Run {
  readonly batch: Batch;
  readonly journal: BatchJournal;
  readonly stopping: Stopping;
  readonly launcher: Launcher;
  readonly sources: Sources;
  readonly preparations: Preparations;
  /** Turns of downloads, those whose links lapse first before others. */
  readonly downloads: Limiter;
  /** Waits for one job; several share their requests. */
  readonly wait: Batch['connection']['client']['jobs']['wait'];
  /** See `batchReference`. */
  readonly batchReference: string;
  /** Looks for jobs that the journal lacks. */
  readonly rebuild: Rebuild;
  /** Jobs that the service has and that are waited for. */
  readonly following: { jobs: number };
  /** Temporary failures since anything went well. */
  readonly streak: { inARow: number };
  tell(item: BatchItem, state: ItemState): void;
  /** Takes up what a job costs; gives what is to be written down of it. @param key of its intent */
  takeBill(item: BatchItem, key: string, job: Job): readonly LogRecord[];
  /** Counts what tasks that come later have cost in earlier runs. */
  countBills(tasks: readonly Task[]): void;
  /** False when it is certain that so much more is beyond --max-credits. */
  canAfford(kind: JobKind, units: Units | null): boolean;
  /** Files of the user that no result may take the place of. */
  readonly inputs: Inputs;
  readonly note: Note;
  /** @throws Stopped when the run stops meanwhile */
  pause(ms: number): Promise<void>;
  /** Stops the run for what is meant for all items, and counts; gives the failure back. */
  judge(failure: Failure): Failure;
}

/** RFC 3339, for records. */
export function timestamp(run: Run): string {
  return new Date(run.batch.runtime.now()).toISOString();
}
