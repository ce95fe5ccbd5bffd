/** Requests to the worker of sherpa, and what it returns. */
import type { Segment } from '../../../media/audio/segments.ts';
import type { TimedText } from '../transcript.ts';

/** Models by type, such as `whisper: { encoder, decoder }`, and settings of all types. */
export type ModelFiles = Readonly<
  Record<string, Readonly<Record<string, string | number>> | string | number>
>;

/** Configuration of a recognizer, as sherpa reads it. */
export interface RecognizerConfig {
  readonly featConfig: { readonly sampleRate: number; readonly featureDim: number };
  readonly modelConfig: ModelFiles;
  /** Default: greedy search, which expects no words. */
  readonly decodingMethod?: string;
}

/** Configuration of a voice, as sherpa reads it. */
export interface VoiceConfig {
  readonly model: ModelFiles;
  /** The most sentences at one time. */
  readonly maxNumSentences: number;
  /** Files with rules to read numbers and dates, separated by commas. */
  readonly ruleFsts?: string;
  readonly ruleFars?: string;
}

/** Settings of one text, for types of voices that have them. */
export interface SpeechSettings {
  /** Steps of a diffusion model: more steps sound better and take longer. */
  readonly numSteps: number;
  /** Settings by the names that the type gives them. */
  readonly extra: Readonly<Record<string, string>>;
}

/** A voice to speak like. */
export interface Recording {
  /** Mono WAV of 16-bit samples and any rate. */
  readonly path: string;
  /** Its words; empty for types that need none. */
  readonly words: string;
}

/** Configuration of a diarization, as sherpa reads it. */
export interface DiarizationConfig {
  readonly segmentation: ModelFiles;
  readonly embedding: ModelFiles;
  /** A number of clusters of -1 means that it is found by the threshold. */
  readonly clustering: { readonly numClusters: number; readonly threshold: number };
  /** In seconds: shorter turns are dropped, and shorter pauses within a turn. */
  readonly minDurationOn: number;
  readonly minDurationOff: number;
}

/** The worker loads a model when a request needs another configuration than the one before. */
export type SherpaRequest =
  | {
      readonly type: 'recognize';
      readonly config: RecognizerConfig;
      /** 16 kHz mono WAV of 16-bit samples. */
      readonly voice: string;
      /** The parts of it to recognize, one after the other. */
      readonly ranges: readonly Segment[];
      /** Words to expect, separated by `/`. */
      readonly hotwords?: string;
      /** Options of each range, for types that have them. */
      readonly options?: Readonly<Record<string, string>> | undefined;
    }
  | {
      readonly type: 'speak';
      readonly config: VoiceConfig;
      readonly text: string;
      readonly speaker: number;
      readonly speed: number;
      readonly settings?: SpeechSettings | undefined;
      /** For types that speak like a recording. */
      readonly recording?: Recording | undefined;
      /** WAV to write. */
      readonly output: string;
    }
  | {
      readonly type: 'diarize';
      readonly config: DiarizationConfig;
      /** 16 kHz mono WAV of 16-bit samples. */
      readonly voice: string;
    };

export interface Utterance {
  /** Index of its range. */
  readonly range: number;
  readonly text: string;
  readonly tokens: readonly string[];
  /** Start of each token in seconds from the start of the range; empty if the model does not time them. */
  readonly timestamps: readonly number[];
  /** Phrases that the model timed itself; empty for most types. Times in seconds from the start of the range. */
  readonly phrases: readonly TimedText[];
  /** The language that the model detected, such as `en` or `<|en|>`; empty if none. */
  readonly language: string;
}
