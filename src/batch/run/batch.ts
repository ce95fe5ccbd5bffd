/** The input of a run, and its outcome. */
import type { Client, Job, Runtime } from '../../client/index.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { Prices } from '../../protocol/prices.ts';
import type { Provenance } from '../../protocol/provenance.ts';
import type { Delivery } from '../inputs/delivery.ts';
import type { BatchItem, BatchListener, BatchOutcome } from '../item.ts';
import type { Decision } from '../plan/decision.ts';
import type { RedubChoices } from '../plan/redub.ts';
import type { Preparation } from '../preparation.ts';
import type { BatchRecord } from '../records/batch-records.ts';
import type { JobRecord } from '../records/job-record.ts';
import type { UploadRecord } from '../records/upload-record.ts';
import type { Terms } from '../terms.ts';
import type { BatchJournal } from './journal.ts';
import type { BatchMemory } from './recall.ts';

/** The records of this machine about the profile that the run uses. */
export interface LocalRecords {
  readonly jobs: JobRecord;
  readonly uploads: UploadRecord;
}

/** A limit that must hold from the first job on. */
export interface NewCredits {
  /** Credits that new jobs may cost, whatever earlier runs have cost. */
  readonly max: number;
}

export interface RunOptions {
  /** Jobs at a time. */
  readonly jobs: number;
  /** Credits that the items may cost, including those of earlier runs; null for no limit. */
  readonly maxCredits: number | null;
  /** Known before the first job, and assumed for jobs whose cost the service does not report. */
  readonly prices?: Prices | undefined;
  /** A limit that several commands share; missing without one. */
  readonly newCredits?: NewCredits | undefined;
  /** After this time nothing new is sent; null for no limit. */
  readonly maxDurationMs: number | null;
  /** After this time the run stops waiting; null for no limit. */
  readonly timeoutMs: number | null;
  /** Makes new jobs whatever the journal says. */
  readonly fresh: boolean;
  /** Makes new jobs for items that failed permanently. */
  readonly retryFailed: boolean;
  /** Counts items as done whose result was downloaded, wherever it is now. */
  readonly skipDone?: boolean | undefined;
  /** Makes new jobs for items whose results have expired, after asking the service. */
  readonly renewExpired?: boolean;
  /** Looks for jobs of a lost journal, made for any folder. */
  readonly rebuild: boolean;
  /** Does not wait for jobs. */
  readonly detach: boolean;
  /** Missing for anything but dubs. */
  readonly redub?: RedubChoices | undefined;
}

/** An item, and what was decided about it with the records of the folder. */
export interface Task {
  readonly item: BatchItem;
  readonly decision: Decision;
}

/** Tasks that arrive during the run. */
export interface Arrival {
  readonly tasks: readonly Task[];
  /** Written to the journal before the tasks start. */
  readonly records: readonly BatchRecord[];
}

/**
 * Yields arriving tasks. The run continues until it ends, which it must when the signal is aborted. A finished item may
 * arrive again.
 */
export type TaskSource = (signal: AbortSignal) => AsyncIterable<Arrival>;

export interface Batch {
  /** Known at the start. */
  readonly tasks: readonly Task[];
  readonly more?: TaskSource;
  /** The number of items that will have run at the end, Infinity if files may arrive forever. Default: that of `tasks`. */
  readonly itemCount?: number;
  /**
   * Kinds of jobs that the run will need: nothing is paid before the key has permission for all of them. Default: each kind is
   * checked by its own request.
   */
  readonly kinds?: readonly JobKind[];
  /** Items whose earlier costs count for --max-credits even if they need no task. */
  readonly counted?: readonly Pick<BatchItem, 'key' | 'kind'>[];
  /** The journal of the delivery, with whose records the tasks were decided. The caller closes it. */
  readonly journal: BatchJournal;
  /** Other files of the user, such as lists, as absolute paths: no result may replace them. */
  readonly inputFiles?: readonly string[];
  readonly delivery: Delivery;
  readonly connection: {
    readonly client: Client;
    /** Polling interval for jobs and uploads in milliseconds; null leaves it to the client. */
    readonly everyMs: number | null;
    /** Whether its credits cost nothing. */
    readonly isFree: boolean;
    /** Returns the provenance of a finished job; null from a service that does not state it. */
    readProvenance(jobId: string): Promise<Provenance | null>;
  };
  readonly records: LocalRecords;
  readonly options: RunOptions;
  readonly runtime: Runtime;
  /** Media work on inputs that the service does not accept as they are. */
  readonly preparation: Preparation;
  /** Terms that translations are checked for; missing without --terms. */
  readonly terms?: Terms | undefined;
  /** Whether terms that stay as they are are replaced by placeholders in requests. */
  readonly masksTerms?: boolean | undefined;
  /** The translation memory; missing for no memory. */
  readonly memory?: BatchMemory | undefined;
  /** Name of the command, for the job record. */
  readonly command: string;
  /** Written to the journal first, such as the command line. */
  readonly preface: readonly BatchRecord[];
  readonly listen: BatchListener;
  /** Shows a warning. */
  readonly warn: (text: string) => void;
  /** If aborted, the run ends immediately; jobs continue. */
  readonly signal: AbortSignal;
}

/** Whether files may arrive forever, as in a watched folder: such a run waits until the service is reachable again. */
export function isEndless({ itemCount }: Pick<Batch, 'itemCount'>): boolean {
  return itemCount === Number.POSITIVE_INFINITY;
}

export interface RunOutcome extends BatchOutcome {
  /** The last known state; null if this run has not asked the service. */
  readonly job: Job | null;
  /** Known ids of the jobs of an item in parts. */
  readonly partJobs?: readonly string[];
}
