/** The items of a batch: one item is one input with one target language and its options. */
import type { Failure } from '../base/failure.ts';
import type { SoundFormat } from '../base/sound-formats.ts';
import type { Look } from '../media/subtitles/look.ts';
import type { SourcePlace } from '../media/work.ts';
import type { JobKind } from '../protocol/kind-names.ts';
import type { Costs, Units } from './bill.ts';
import type { JobInput } from './input.ts';
import type { ItemProvenance } from './item-provenance.ts';
import type { KeptTracks } from './kept-tracks.ts';

export interface BatchItem {
  /** The same in every run of the same command: kind, name of the input below its root, target language. */
  readonly key: string;
  /** For messages, unique in the batch: `week1/talk.mp4 → es`. */
  readonly label: string;
  readonly kind: JobKind;
  readonly input: JobInput;
  /** Null for kinds without a target language. */
  readonly targetLanguage: string | null;
  /** The request without its source. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Digest of the fields except target language, reference and callback. Another digest means other results. */
  readonly optionsDigest: string;
  /** Folder below the output folder, as in the tree of the inputs; empty for none. */
  readonly folder: string;
  /** The expected units; null if they are unknown before the upload. */
  readonly units: Units | null;
  /** Tracks of the input, a file, that are added to the finished video. */
  readonly keep?: KeptTracks | undefined;
  /** How this machine burns subtitles into the finished video; missing if it does not. */
  readonly look?: Look | undefined;
  /** How the result is sound instead of a video; missing if it is not. */
  readonly sound?: SoundResult | undefined;
  /** Where the subtitles of the finished video show the text of their source; missing if they do not. */
  readonly bilingual?: SourcePlace | undefined;
  /** Whether its finished video says in a tag that it is machine-made; missing to leave it as it is delivered. */
  readonly mark?: boolean | undefined;
  /** The items of its languages, for a file that has all of them, in the order of its tracks, and for the sound of one beside it. */
  readonly gathers?: readonly BatchItem[];
  /** Whether the sound of the input comes before that of the languages. */
  readonly startsWithOriginal?: boolean;
  /** True for a result that only vloc reads: that of a part, of a stage, and of a language of a file that has several. */
  readonly isInner?: true;
  /** Set for a part of an item that is too long for one job. Listeners get events of the whole item only. */
  readonly part?: ItemPart;
}

/** The sound that this machine writes instead of a finished video. */
export interface SoundResult {
  readonly format: SoundFormat;
  /** Of its name, with the dot. */
  readonly extension: string;
  /** In LUFS; missing for that of the video. */
  readonly loudness?: number | undefined;
}

/** What this machine does to a finished video. */
export interface KeptResult {
  /** Tracks that it gets from its source; both or none. */
  readonly tracks?: KeptTracks;
  readonly source?: TrackSource | undefined;
  /** Whether the sound of the source comes first, and is played unless another is chosen. */
  readonly isFirst?: boolean;
  /** Its own subtitles, which are burned into its picture. */
  readonly burned?: BurnedTrack | undefined;
  /** Its sound alone, with the tags of the source if there is one. */
  readonly sound?: (SoundResult & Pick<BurnedTrack, 'language'>) | undefined;
  /** Missing in records of jobs that were made before there were marks. */
  readonly mark?: ResultMark;
}

/** What a tag says of a finished video, as far as it is known before it is made. */
export interface ResultMark {
  /** Null if nobody asked: a video that is changed here anyway gets it. */
  readonly isWanted: boolean | null;
  readonly isSpoken: boolean;
  /** The spoken language, BCP 47, where the user has stated it. */
  readonly from: string | null;
  readonly to: readonly string[];
}

export interface BurnedTrack {
  readonly look: Look;
  /** BCP 47 tag. */
  readonly language: string;
}

/** The file whose tracks or tags are added, as it was when the video was made. */
export interface TrackSource {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
  /** Modification time, milliseconds since 1970. */
  readonly mtimeMs: number;
  /** The audio track that was localized, from 1. */
  readonly track: number;
  /** The spoken language, BCP 47, where the user has stated it. */
  readonly language: string | null;
}

/** Which part of which item. */
interface ItemPart {
  readonly of: BatchItem;
  /** SHA-256 of the input of that item, lower-case hex. */
  readonly sha256: string;
  /** From 1. */
  readonly number: number;
  readonly count: number;
  /** Whose lines it has, with --voices; null for everyone else. */
  readonly speaker?: string | null;
}

export interface ItemFile {
  /** Name of the part of the result, such as `video`. */
  readonly asset: string;
  readonly path: string;
  /** Null for an existing file that was not read. */
  readonly bytes: number | null;
  /** Lower-case hex, computed from the bytes read or written, not reported by the service; null as above. */
  readonly sha256: string | null;
  /** What was done to it on this machine, see `nameWork`. */
  readonly kept?: string | undefined;
}

/** Why an item needs no job of this run. `recorded`: it was downloaded, and --skip-done counts that without its files. */
export type DoneBefore = 'downloaded' | 'exists' | 'recorded';

/** The state of an item. Fractions are 0 to 1. */
export type ItemState =
  | { readonly phase: 'waiting' }
  /** Work on this machine, before the upload or after the download. */
  | { readonly phase: 'preparing'; readonly doing: Doing; readonly fraction: number | null }
  | { readonly phase: 'uploading'; readonly bytes: number; readonly total: number }
  | { readonly phase: 'validating' }
  /** The upload is ready and waits for a slot, or until the cost of other jobs is known. */
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
      /** When the links expire, RFC 3339. */
      readonly expiresAt: string | null;
    }
  | {
      readonly phase: 'done';
      readonly jobId: string | null;
      readonly files: readonly ItemFile[];
      readonly credits: number | null;
      /** Null when this run did it. */
      readonly before: DoneBefore | null;
      /** How it was made; missing if this run does not know, null if the service does not say. */
      readonly provenance?: ItemProvenance | null;
    }
  | {
      readonly phase: 'failed';
      readonly jobId: string | null;
      readonly failure: Failure;
      /** What is known of a result that was delivered nevertheless. */
      readonly provenance?: ItemProvenance | null;
    }
  /** Not started, or still running at the service, because the run stopped. */
  | { readonly phase: 'left'; readonly jobId: string | null; readonly because: StopReason };

/** Work on a file on this machine. */
export type Doing = 'reading' | 'converting' | 'cutting' | 'joining' | 'exporting';

/** Why no new jobs are submitted. Running jobs finish, except after an interruption. */
export type StopReason =
  | 'max-credits'
  | 'price-unknown'
  | 'no-credits'
  | 'quota'
  | 'max-duration'
  | 'authentication'
  | 'network'
  | 'interrupted'
  /** A folder of this machine cannot be used, or an internal error; the failure is reported as well. */
  | 'broken'
  | 'timeout'
  | 'detached';

/** The events of a run, for the screen, log lines and `--output ndjson`. */
export type BatchEvent =
  | { readonly type: 'item'; readonly item: BatchItem; readonly state: ItemState; readonly atMs: number }
  /** An item in parts has one more job. */
  | {
      readonly type: 'part';
      readonly item: BatchItem;
      /** From 1. */
      readonly part: number;
      readonly of: number;
      readonly jobId: string;
    }
  /** A file was uploaded, for all its items. */
  | { readonly type: 'uploaded'; readonly item: BatchItem; readonly uploadId: string; readonly bytes: number }
  /** The slots that this run may use: fewer after CONCURRENCY_LIMIT_EXCEEDED. */
  | { readonly type: 'window'; readonly size: number; readonly inFlight: number }
  /**
   * `isFree`: the credits cost nothing. `committed`: with the costs of jobs that the service does not report, by stated prices; `ofThisRun`: of that, what the jobs
   * of this run add to those of earlier ones. Null if a cost is neither reported nor stated.
   */
  | ({
      readonly type: 'credits';
      readonly committed?: number | null;
      readonly ofThisRun?: number | null;
      readonly isFree?: boolean;
    } & Costs)
  | { readonly type: 'stop'; readonly reason: StopReason; readonly message: string };

export type BatchListener = (event: BatchEvent) => void;

/** The final state of one item. */
export interface BatchOutcome {
  readonly item: BatchItem;
  readonly state: Extract<ItemState, { phase: 'done' | 'failed' | 'left' }>;
}
