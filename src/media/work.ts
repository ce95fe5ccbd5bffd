/** Inputs and results of media work: its folder and signal, files, subtitles, sound, and how it was done. */
import { ENGINE_STEPS, type Provenance } from '../protocol/provenance.ts';
import type { SpokenLine } from '../protocol/subtitle-line.ts';

export type JobStep = (typeof ENGINE_STEPS)[number];

/**
 * The steps that engines do. Speakers are told apart by commands, because results of a job have no place for them, and so are videos
 * marked, after all other changes.
 */
export const BACKEND_STEPS = [...ENGINE_STEPS, 'diarize', 'mark'] as const;
export type BackendStep = (typeof BACKEND_STEPS)[number];

/** Signal and folder of a short call. */
export interface EngineRun {
  /** When it is aborted, child processes end within 2 s and the promise rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** An existing folder for temporary files; its owner removes it. */
  readonly folder: string;
}

/** Signal, folder and progress of each piece of media work. */
export interface Work {
  /** When it is aborted, child processes end within 2 s and the promise rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** An existing folder for temporary files and results; its owner removes it. */
  readonly folder: string;
  /** Reports the completed fraction, 0 to 1, which never decreases. `stage` is set only for jobs with stages. */
  readonly report: (fraction: number, stage?: Stage) => void;
  /** Where results of stages are shared between jobs. Without it, each job computes all its stages. */
  readonly sharing?: StageSharing;
  /** When the work began, milliseconds since 1970, for the tags of a finished video; without it, it gets none. */
  readonly atMs?: number;
}

/** Shares the results of stages between jobs. */
export interface StageSharing {
  /**
   * Returns what `compute` returns. It is computed once for equal keys, also when several jobs ask at the same time.
   * A result is JSON and paths of files: `compute` writes them to the folder of the work that it receives, and they are
   * returned in the folder of `work`.
   * @param key names everything that the result depends on
   */
  once<T>(
    key: string,
    work: Work,
    compute: (work: Work) => Promise<T>,
  ): Promise<{ readonly result: T; readonly reused: boolean }>;
}

/** The stages of an auto localization, in order. */
const STAGES = ['separating', 'recognizing', 'translating', 'dubbing', 'exporting'] as const;
export type Stage = (typeof STAGES)[number];

/** A file that a job created. `path` is inside the work folder. */
export interface MediaFile {
  readonly path: string;
  readonly contentType: 'audio/wav' | 'video/mp4' | 'application/x-subrip';
}

/** Where the text of the source stands. */
export type SourcePlace = 'above' | 'below';

/** A translated line with its times, and the text of its source; missing if nothing is said in the source then. */
export interface PairedLine extends SpokenLine {
  /** Without markup. */
  readonly source?: string;
}

/** How the texts of the source are shown. */
export interface SecondLanguage {
  readonly place: SourcePlace;
  /** BCP 47 tag; `und` if unknown. */
  readonly language: string;
}

/** Subtitle text and its language, a BCP 47 tag. */
export interface Subtitle {
  readonly language: string;
  readonly lines: readonly PairedLine[];
  /** How the texts of the source are shown; missing for none. */
  readonly second?: SecondLanguage | undefined;
}

/** Mono sound of 16-bit samples. */
export interface Clip {
  readonly samples: Int16Array;
  /** Samples per second. */
  readonly sampleRate: number;
}

/** Which engine did a step. */
export type EngineUse = Provenance['engines'][number];

/** How a text was made to fit its time. */
export interface CueFit {
  /** Numbers of the cues that were spoken as one text. */
  readonly cues: readonly number[];
  /** How much later than its cue the words of each begin, in seconds; negative if they begin earlier. */
  readonly shifts: readonly number[];
  readonly fit: 'none' | 'speed' | 'tempo' | 'cut';
  /** Speed of the voice; 1 is natural. */
  readonly speed: number;
  /** Factor by which the recording was stretched; 1 if it was not. */
  readonly tempo: number;
  /** Length of the speech in seconds, and the longest that was allowed. */
  readonly seconds: number;
  readonly allowedSeconds: number;
  /** Seconds that were cut off at the end. */
  readonly cutSeconds: number;
}

export type SubtitleOutput = 'none' | 'soft' | 'burned';
export type OriginalAudio = 'background' | 'duck' | 'mute';
export type Resolution = 'source' | '1080p' | '720p' | '480p';

/** How a video is to be exported. */
export interface ExportRequest {
  readonly targetLanguage: string;
  readonly subtitleOutput: SubtitleOutput;
  readonly resolution: Resolution;
  /** Path of an inspected file; null if it is not known yet. */
  readonly video: string | null;
}

/** Returns the work of a part. Its progress counts as the share from `from` to `to` of the whole. */
export function shareProgress(work: Work, from: number, to: number, stage?: Stage): Work {
  return {
    ...work,
    report: (fraction, inner) => work.report(from + fraction * (to - from), stage ?? inner),
  };
}

/** Returns the work of a stage and reports the stage as started, because its first own progress may take seconds. */
export function enterStage(work: Work, from: number, to: number, stage: Stage): Work {
  const part = shareProgress(work, from, to, stage);
  part.report(0);
  return part;
}

/** Returns work whose reported fraction stays within 0 to 1 and never decreases. */
export function keepProgressRising(work: Work): Work {
  let highest = 0;
  return {
    ...work,
    report(fraction, stage) {
      highest = Math.max(highest, Math.min(1, fraction));
      work.report(highest, stage);
    },
  };
}
