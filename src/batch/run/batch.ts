/** What a run is given. */
import type { Client, Job, Runtime } from '../../client/index.ts';
import type { JobRecord } from '../../journal/job-record.ts';
import type { LogRecord } from '../../journal/record-line.ts';
import type { Slots } from '../../journal/slots.ts';
import type { UploadRecord } from '../../journal/upload-record.ts';
import type { BatchItem, BatchListener, BatchOutcome } from '../item.ts';
import type { Decision } from '../plan/decision.ts';
import type { Delivery } from '../plan/delivery.ts';

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

export interface Batch {
  readonly tasks: readonly Task[];
  /** Its folder is absolute. */
  readonly delivery: Delivery;
  /** Pace of looking at jobs and uploads; null leaves it to the client. */
  readonly connection: { readonly client: Client; readonly everyMs: number | null };
  readonly records: LocalRecords;
  readonly options: RunOptions;
  readonly runtime: Runtime;
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
}
