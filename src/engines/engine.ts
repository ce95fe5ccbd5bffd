/**
 * The interface between the service and the media work: tasks and products of each kind of job, and what this machine can
 * do. The service uses no other file of the engines.
 */
import type { JobKind } from '../protocol/kind-names.ts';
import type { Media } from '../protocol/media.ts';
import type { SubtitleLine } from '../protocol/subtitle-line.ts';
import type { BackendStep, ListedPair, VoiceMode } from './backend.ts';

/** What each piece of media work receives. */
export interface Work {
  /** When it is aborted, child processes end within 2 s and the promise rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** An existing folder for temporary files and results; its owner removes it. */
  readonly folder: string;
  /** Reports the completed fraction, 0 to 1, which never decreases. `stage` is set only for jobs with stages. */
  readonly report: (fraction: number, stage?: Stage) => void;
  /** Where results of stages are shared between jobs. Without it, each job computes all its stages. */
  readonly sharing?: StageSharing;
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

/** Subtitle text and its language, a BCP 47 tag. */
export interface Subtitle {
  readonly language: string;
  readonly lines: readonly SubtitleLine[];
}

/** The input of each kind. Paths are inspected local files; languages are BCP 47 tags. */
export interface Tasks {
  audio_separation: { video: string };
  subtitle_recognition: { video: string; sourceLanguage: string };
  subtitle_translation: { lines: readonly SubtitleLine[]; sourceLanguage: string; targetLanguage: string };
  dubbing: { lines: readonly SubtitleLine[]; targetLanguage: string; voiceMode: VoiceMode };
  auto_localization: {
    video: string;
    sourceLanguage: string;
    targetLanguage: string;
    mode: 'standard' | 'subtitles_only';
    voiceMode: VoiceMode;
    subtitleOutput: 'none' | 'soft' | 'burned';
    originalAudio: 'background' | 'duck' | 'mute';
    resolution: 'source' | '1080p' | '720p' | '480p';
  };
}

/** Which engine did a step. */
export interface EngineUse {
  readonly step: BackendStep | 'export';
  readonly engine: string;
  /** Preferred engines that were not used, because they do not support the language. */
  readonly skipped: readonly string[];
  /** True if the engine did not run for this job, because another one had the same work done. */
  readonly reused?: boolean;
  /** True if a separation found no voice, so that the voice track is silent. */
  readonly silent?: boolean;
  /** Characters of burned subtitles that no font has. */
  readonly unshown?: readonly string[];
}

/** How a text was made to fit its time. */
export interface CueFit {
  /** Numbers of the cues that were spoken as one text. */
  readonly cues: readonly number[];
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

/** What every product says about how it was made. */
export interface EngineProvenance {
  /** One entry per step. */
  readonly engines?: readonly EngineUse[];
  /** One entry per spoken text; empty without speech. */
  readonly fits?: readonly CueFit[];
}

/** The output of each kind. Durations in seconds. */
export interface Products {
  audio_separation: EngineProvenance & { vocalAudio: MediaFile; backgroundAudio: MediaFile };
  subtitle_recognition: EngineProvenance & { subtitle: Subtitle };
  subtitle_translation: EngineProvenance & { subtitle: Subtitle };
  dubbing: EngineProvenance & { audio: MediaFile; durationSeconds: number };
  auto_localization: EngineProvenance & { video: MediaFile; durationSeconds: number };
}

/** An engine that a step cannot do without. */
export interface MissingEngine {
  readonly step: EngineStep;
  readonly engine: string;
  /** Why it cannot be used, if it is not simply not installed. */
  readonly reason?: string;
}

/** What the installed engines can do. */
export interface Capabilities {
  /** Steps that cannot run here, with their missing engine; empty if everything is installed. */
  readonly missing: readonly MissingEngine[];
  /** Languages in which speech can be recognized. */
  readonly recognize: readonly string[];
  /** Directions in which text can be translated. */
  readonly translate: readonly ListedPair[];
  /** Languages in which text can be spoken, with the names of the voices. */
  readonly speak: readonly { readonly language: string; readonly voices: readonly string[] }[];
}

export const STEPS = ['probe', 'separate', 'recognize', 'translate', 'speak', 'export'] as const;
export type EngineStep = (typeof STEPS)[number];

/** How a video is to be exported. */
export interface ExportRequest
  extends Pick<Tasks['auto_localization'], 'targetLanguage' | 'subtitleOutput' | 'resolution'> {
  /** Path of an inspected file; null if it is not known yet. */
  readonly video: string | null;
}

/** The media work as seen by the service. All methods throw `JobFailure` for problems of the media. */
export interface Engines {
  capabilities(): Promise<Capabilities>;
  /** Measures and fully decodes an untrusted file. Source: contract, "Validation of a source video". */
  inspect(file: string, signal: AbortSignal): Promise<Media>;
  /**
   * Checks that a video can be exported as requested. Default: every video can.
   * @throws JobFailure LANGUAGE_NOT_SUPPORTED without a font for burned subtitles, MEDIA_UNSUPPORTED if ffmpeg cannot
   * encode the picture
   */
  checkExport?(request: ExportRequest, signal: AbortSignal): Promise<void>;
  readonly run: { readonly [K in JobKind]: (task: Tasks[K], work: Work) => Promise<Products[K]> };
  /** Ends what the engines keep between jobs, such as loaded models. */
  close?(): Promise<void>;
}
