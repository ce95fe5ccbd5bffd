/**
 * The interface between the service and the media work: tasks and products of each kind of job, and what this machine can
 * do. The service uses no other file of the engines.
 */

import type {
  CueFit,
  EngineUse,
  ExportRequest,
  MediaFile,
  OriginalAudio,
  Resolution,
  Subtitle,
  SubtitleOutput,
  Work,
} from '../media/work.ts';
import type { JobKind } from '../protocol/kind-names.ts';
import type { Media } from '../protocol/media.ts';
import type { SubtitleLine } from '../protocol/subtitle-line.ts';
import type { ListedPair, VoiceMode } from './backend.ts';

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
    subtitleOutput: SubtitleOutput;
    originalAudio: OriginalAudio;
    resolution: Resolution;
  };
}

/** Provenance of a product. */
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

/** Languages and missing steps of the installed engines. */
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
