/**
 * The preparation of inputs that the service does not accept as they are: data for the plan, and the interface that a run
 * calls. The media work behind it is not part of a batch.
 */
import type { SoundFormat } from '../base/sound-formats.ts';
import type { JobKind } from '../protocol/kind-names.ts';
import type { FileInput, FilePreparation, LinesPart, VideoSample, VoicesByName } from './input.ts';
import type { BurnedTrack, KeptResult, ResultMark, TrackSource } from './item.ts';
import type { ItemProvenance } from './item-provenance.ts';

/** A prepared file, ready to be sent. */
export interface MadeFile {
  readonly path: string;
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  /** Null if it cannot be measured here. */
  readonly seconds: number | null;
}

export interface MadeFiles {
  /** One file for a video that is not cut; otherwise its parts, in order. */
  readonly files: readonly MadeFile[];
  /** Data for joining the parts and for cutting them again, to be recorded. Null for a video that is not cut. */
  readonly split: unknown;
}

/** The context of a preparation. */
export interface PreparationWork {
  readonly signal: AbortSignal;
  /** An empty folder for results and intermediate files. The caller removes it. */
  readonly folder: string;
  /** Fraction done, 0 to 1. */
  readonly report: (fraction: number) => void;
}

export interface JoinTask {
  readonly kind: JobKind;
  /** The results of the parts, in order: the path of each file, by label of the asset. */
  readonly parts: readonly Readonly<Record<string, string>>[];
  readonly whole: /** `source` is the path of the whole video. */
    | { readonly type: 'video'; readonly split: unknown; readonly source: string }
    /** The starts of the parts, and the end of the last one, in milliseconds. */
    | { readonly type: 'lines'; readonly offsetsMs: readonly number[]; readonly endMs: number };
}

export interface TracksTask {
  /** The finished video. */
  readonly video: string;
  /** Its subtitle track, which is burned in; undefined for none. */
  readonly burned: BurnedTrack | undefined;
  /** The sound that is written instead of it; undefined for a video. */
  readonly sound: KeptResult['sound'];
  /** Null if nothing of it is added. */
  readonly source: TrackSource | null;
  readonly audio: boolean;
  /** See `KeptResult`. */
  readonly isFirst?: boolean | undefined;
  readonly subtitles: boolean;
  /** Undefined to leave its tags as they are; a mark that is not wanted is left out. */
  readonly mark: ResultMark | undefined;
  readonly made: Making;
}

/** How a video was made whose tag says so. */
interface Making {
  /** Null if the service does not say. */
  readonly engines: ItemProvenance['engines'] | null;
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

/** Finished videos of one input, which become one with the tracks of all. */
interface LanguagesTask {
  readonly videos: readonly { readonly path: string; readonly language: string }[];
  /** Whether their sound is the same. */
  readonly isOneSound: boolean;
}

export interface JoinedFile {
  /** Label of the asset. */
  readonly label: string;
  /** In the work folder. */
  readonly path: string;
  /** Notes for the user; empty if everything is fine. */
  readonly notes: readonly string[];
}

/** A part of a track that is replaced; times in milliseconds. */
export interface Place {
  readonly startMs: number;
  /** The start of the next cue that stays; null if there is none. */
  readonly endMs: number | null;
  /** Times of the cues that are spoken again in it, and of the cue after it if that is sent too. Empty for silence. */
  readonly spoken: readonly (readonly [startMs: number, endMs: number])[];
}

/** Where a piece of a dub replaces a part of an earlier track. Times are in milliseconds. */
interface PatchTask {
  readonly track: string;
  /** Null if all places become silent. */
  readonly piece: string | null;
  readonly places: readonly Place[];
  /** Whether the piece must sound like the track. */
  readonly isCompared: boolean;
}

interface PatchedTrack {
  /** In the work folder. */
  readonly path: string;
  /** How the voices differ, as a sentence without its stop; null if they sound alike. */
  readonly difference: string | null;
}

/** The media work of a run. @throws Failure caused by the file, the disk or a program */
export interface Preparation {
  /** @param split from an earlier run, to cut at the same places; null to choose them */
  prepare(input: FileInput, split: unknown, work: PreparationWork): Promise<MadeFiles>;
  join(task: JoinTask, work: PreparationWork): Promise<readonly JoinedFile[]>;
  /** @returns the path of a video in the work folder */
  gather(task: LanguagesTask, work: Omit<PreparationWork, 'report'>): Promise<string>;
  patch(task: PatchTask, work: Omit<PreparationWork, 'report'>): Promise<PatchedTrack>;
  /**
   * Burns the subtitles of a finished video in and adds tracks of the source to it, or writes its sound alone, and marks it. A new file
   * is in the work folder.
   */
  addTracks(task: TracksTask, work: Omit<PreparationWork, 'report'>): Promise<Omit<JoinedFile, 'label'>>;
}

/** The result of examining a video before anything is sent. */
export type ExaminedVideo =
  | {
      readonly type: 'usable';
      /** Null if it cannot be measured here. */
      readonly seconds: number | null;
      /** Null for a file that is sent as it is. */
      readonly preparation: FilePreparation | null;
      /** See `JobInput`. */
      readonly uncopiedCodec?: string;
      readonly channels?: number;
      readonly sound?: SoundFormat;
      readonly sample?: VideoSample;
      readonly isSilent?: true;
    }
  /** Why it cannot be used and how to fix it, in one sentence. `isOwn`: it never stops other videos, even if it was named. */
  | { readonly type: 'problem'; readonly detail: string; readonly isOwn?: true }
  /** Not a video. */
  | { readonly type: 'other'; readonly detail: string };

export type ExaminedLines =
  /** `parts` is null for subtitles that are sent whole. `voices`: see `JobInput`. */
  | {
      readonly type: 'usable';
      readonly parts: readonly LinesPart[] | null;
      readonly voices?: VoicesByName | undefined;
    }
  | { readonly type: 'problem'; readonly detail: string };
