/** What a batch is made of: one item is one input in one language, one paid call, one intent in the journal. */
import type { Failure } from '../errors/failure.ts';
import type { JobKind } from '../protocol/kind-names.ts';
import type { MeteringUnit } from '../protocol/kinds.ts';
import type { JobInput } from './plan/input.ts';

export interface BatchItem {
  /** The same in every run of the same command: kind, name of the input below its root, target language. */
  readonly key: string;
  /** For people, unique in the batch: `week1/talk.mp4 → es`. */
  readonly label: string;
  readonly kind: JobKind;
  readonly input: JobInput;
  /** Null for kinds that produce no other language. */
  readonly targetLanguage: string | null;
  /** The request without its source. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Digest of the fields but for target language, reference and callback: another one means other results. */
  readonly optionsDigest: string;
  /** Folder below the folder of results, in the tree of the inputs; empty for none. */
  readonly folder: string;
  /** What it will be metered by, as far as it is known before the upload. */
  readonly units: Units | null;
  /** Set for a part of an item that is too long for one job; those who watch hear of the whole item only. */
  readonly part?: ItemPart;
}

/** Which part of which item. */
interface ItemPart {
  readonly of: BatchItem;
  /** From 1. */
  readonly number: number;
  readonly count: number;
}

/** Source: specification, "Metering". */
export interface Units {
  readonly unit: MeteringUnit;
  readonly quantity: number;
}

export interface ItemFile {
  /** Name of the part of the result, such as `video`. */
  readonly asset: string;
  readonly path: string;
  /** Null for a file that was there before and was not read. */
  readonly bytes: number | null;
  /** Lower-case hex, of the bytes as they were read or written, whatever the service states; null as above. */
  readonly sha256: string | null;
}

/** What several jobs cost together. */
export interface CreditTotals {
  /** Held by jobs that are not finished. */
  readonly reserved: number;
  readonly charged: number;
  /** Jobs whose service does not say what they cost; they are in neither of the sums. */
  readonly unknown: number;
}

/** Why an item needed nothing from this run. */
export type DoneBefore = 'downloaded' | 'exists';

/** How far an item is; fractions are 0 to 1. */
export type ItemState =
  | { readonly phase: 'waiting' }
  /** Work on this machine, before the upload or behind the download. */
  | { readonly phase: 'preparing'; readonly doing: Doing; readonly fraction: number | null }
  | { readonly phase: 'uploading'; readonly bytes: number; readonly total: number }
  | { readonly phase: 'validating' }
  /** The upload is ready and waits for one of the slots, or for the credits of others to be known. */
  | { readonly phase: 'ready' }
  | { readonly phase: 'submitting' }
  | { readonly phase: 'queued'; readonly jobId: string }
  | {
      readonly phase: 'processing';
      readonly jobId: string;
      readonly stage: string | null;
      readonly fraction: number;
    }
  | {
      readonly phase: 'downloading';
      readonly jobId: string;
      readonly bytes: number;
      readonly total: number | null;
      /** When the links lapse, RFC 3339. */
      readonly expiresAt: string | null;
    }
  | {
      readonly phase: 'done';
      readonly jobId: string | null;
      readonly files: readonly ItemFile[];
      readonly credits: number | null;
      /** Null when this run did it. */
      readonly before: DoneBefore | null;
    }
  | { readonly phase: 'failed'; readonly jobId: string | null; readonly failure: Failure }
  /** Not begun, or left running, because the whole run came to a stop. */
  | { readonly phase: 'left'; readonly jobId: string | null; readonly because: StopReason };

/** What is done to a file on this machine. */
export type Doing = 'reading' | 'converting' | 'cutting' | 'joining' | 'exporting';

/** What ends the submission of new jobs; those that run are let finish, but for an interruption. */
export type StopReason =
  | 'max-credits'
  | 'no-credits'
  | 'quota'
  | 'max-duration'
  | 'authentication'
  | 'network'
  | 'interrupted'
  /** A folder of this machine that cannot be used, or a defect of ours; the failure itself comes as well. */
  | 'broken'
  | 'timeout'
  | 'detached';

/** What a run tells those who watch it: the screen, the lines of a log, `--output ndjson`. */
export type BatchEvent =
  | { readonly type: 'item'; readonly item: BatchItem; readonly state: ItemState; readonly atMs: number }
  /** An item that goes in parts has one more job. */
  | {
      readonly type: 'part';
      readonly item: BatchItem;
      /** From 1. */
      readonly part: number;
      readonly of: number;
      readonly jobId: string;
    }
  /** A file is at the service, for all its items. */
  | { readonly type: 'uploaded'; readonly item: BatchItem; readonly uploadId: string; readonly bytes: number }
  /** Slots that this run may use now: fewer after CONCURRENCY_LIMIT_EXCEEDED. */
  | { readonly type: 'window'; readonly size: number; readonly inFlight: number }
  | ({ readonly type: 'credits' } & CreditTotals)
  | { readonly type: 'stop'; readonly reason: StopReason; readonly message: string };

export type BatchListener = (event: BatchEvent) => void;

/** One item when the run is over. */
export interface BatchOutcome {
  readonly item: BatchItem;
  readonly state: Extract<ItemState, { phase: 'done' | 'failed' | 'left' }>;
}
