/** What a run is given. */
import type { Client, Job, Runtime } from '../../client/index.ts';
import type { JobRecord } from '../../journal/job-record.ts';
import type { LogRecord } from '../../journal/record-line.ts';
import type { Slots } from '../../journal/slots.ts';
import type { UploadRecord } from '../../journal/upload-record.ts';
import type { BatchItem, BatchListener, BatchOutcome } from '../item.ts';
import type { Decision, Recorded } from '../plan/decision.ts';
import type { Delivery } from '../plan/delivery.ts';
import type { Preparation } from '../preparation.ts';

/** What this machine knows of the profile that the run uses. */
export interface LocalRecords {
  readonly jobs: JobRecord;
  readonly uploads: UploadRecord;
  readonly slots: Slots;
}

export interface RunOptions {
  /** Jobs that may be under way at once. */
  readonly jobs: number;
  /** Credits that the items may cost, those of earlier runs among them; null for no limit. */
  readonly maxCredits: number | null;
  /** After so long nothing new is sent; null for no limit. */
  readonly maxDurationMs: number | null;
  /** After so long nothing is waited for; null for no limit. */
  readonly timeoutMs: number | null;
  /** Makes new jobs whatever the journal says of the items. */
  readonly fresh: boolean;
  /** Makes new jobs for those that have failed for good. */
  readonly retryFailed: boolean;
  /** Makes new jobs for those that the service does not have any more; it is asked first. */
  readonly renewExpired?: boolean;
  /** Looks for jobs of a lost journal, of whatever folder they were. */
  readonly rebuild: boolean;
  /** Waits for nothing. */
  readonly detach: boolean;
}

/** An item, and what the plan has found to do about it. */
export interface Task {
  readonly item: BatchItem;
  readonly decision: Decision;
}

/** Tasks that come while the run goes on. */
export interface Arrival {
  readonly tasks: readonly Task[];
  /** Written into the journal before they are begun. */
  readonly records: readonly LogRecord[];
}

/**
 * Where they come from. The run goes on until it ends, which it must when the signal is aborted. An item may come again
 * when the run is done with it.
 * @param recorded what the journal says at the moment
 */
export type TaskSource = (recorded: () => Recorded, signal: AbortSignal) => AsyncIterable<Arrival>;

export interface Batch {
  /** Those that are known from the beginning. */
  readonly tasks: readonly Task[];
  readonly more?: TaskSource;
  /** Files of the user beside the inputs of the tasks, absolute, such as lists: no result may be written over them. */
  readonly inputFiles?: readonly string[];
  /** Its folder is absolute. */
  readonly delivery: Delivery;
  /** Pace of looking at jobs and uploads; null leaves it to the client. */
  readonly connection: { readonly client: Client; readonly everyMs: number | null };
  readonly records: LocalRecords;
  readonly options: RunOptions;
  readonly runtime: Runtime;
  /** The media work on inputs that the service does not take as they are. */
  readonly preparation: Preparation;
  /** The name of the command, for the record of jobs. */
  readonly command: string;
  /** Written into the journal before anything else, such as the command line. */
  readonly preface: readonly LogRecord[];
  readonly listen: BatchListener;
  /** Something that a person should know and that stops nothing. */
  readonly warn: (text: string) => void;
  /** Aborted, the run ends at once; jobs go on. */
  readonly signal: AbortSignal;
}

export interface RunOutcome extends BatchOutcome {
  /** As the service told it last; null when this run has not asked. */
  readonly job: Job | null;
  /** Ids of the jobs of an item that went in parts, as far as they are known. */
  readonly partJobs?: readonly string[];
}
