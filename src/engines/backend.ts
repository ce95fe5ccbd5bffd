/**
 * The steps that engines do. Each engine implements the interface of its step, and nothing outside an
 * implementation knows which one runs. A backend belongs to the process and serves all its jobs.
 */

import type { Segment } from '../media/audio/segments.ts';
import type { Clip, EngineRun } from '../media/work.ts';
import type { LanguagePair } from '../protocol/languages.ts';

export type VoiceMode = 'auto' | 'female' | 'male';

/** Folder, signal and progress of a longer call. All its files have names that no other call uses. */
export interface BackendWork extends EngineRun {
  /** Reports the completed fraction, 0 to 1. */
  readonly report: (fraction: number) => void;
}

interface Backend {
  /** Shown to users, such as `openai large-v3`. Has no secret and no path. */
  readonly name: string;
  /** The most calls that run at one time, over all jobs of the process. */
  readonly concurrency: number;
  /** The most memory that a process with the model has taken, in bytes; null, and left out by most, if it is not known. */
  peakBytes?(): number | null;
  /** Where its model ran last, such as `NVIDIA H200 (Vulkan), all 33 layers`; null, and left out by most, if it is not known. */
  where?(): string | null;
  /** Ends child processes and frees models. A later call loads them again. */
  close(): Promise<void>;
}

/** One recognized word; times in seconds from the start of the sound. */
export interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Index of its speech segment. A cue avoids spanning two segments. */
  readonly segment: number;
}

export interface RecognitionTask {
  /** 16 kHz mono WAV file of 16-bit samples, with the background lowered. */
  readonly voice: string;
  /** The times of speech in it, in order; at least one. */
  readonly segments: readonly Segment[];
  /** BCP 47 tag, or `auto`. */
  readonly language: string;
}

export interface Recognition {
  /** BCP 47 tag of the spoken language. */
  readonly language: string;
  /** In order of time; empty if no words were recognized. */
  readonly words: readonly Word[];
  /** Whether the words have capitals and punctuation. Without them, cues get a capital and a full stop. */
  readonly punctuated: boolean;
}

/** Sound to words with times. */
export interface Recognizer extends Backend {
  /** Returns BCP 47 tags. The first is used if nothing can detect the language. */
  languages(run: EngineRun): Promise<readonly string[]>;
  /** @throws JobFailure, ProgramMissing, ChildFailure */
  recognize(task: RecognitionTask, work: BackendWork): Promise<Recognition>;
}

/** A pair, and the language through which it is translated if there is one in between. */
export interface ListedPair extends LanguagePair {
  readonly through?: string;
}

/** The words of one speaker in one cue. */
export interface SourceText {
  /** On one row and without markup, unless the translator keeps markup. */
  readonly text: string;
  /** How long it is shown. A longer translation cannot be read or spoken in time. */
  readonly durationMs: number;
  /** True if its sentence goes on in the next text, and is spoken as one. */
  readonly continues?: boolean;
}

export interface TranslationTask extends LanguagePair {
  /** In order of time, so that neighbours give context. */
  readonly texts: readonly SourceText[];
}

/** Texts to texts. */
export interface Translator extends Backend {
  /** Returns whether it translates a pair, matching regional varieties. */
  supports(pair: LanguagePair, run: EngineRun): Promise<boolean>;
  /** Returns its pairs, to be listed. */
  pairs(run: EngineRun): Promise<readonly ListedPair[]>;
  /** True: receives tags and line breaks of a text and returns them. False: they are removed before. */
  readonly keepsMarkup: boolean;
  /** Whether translations have the capitals and final marks that the language needs. If not, those of the source are used. */
  readonly punctuates: boolean;
  /** Whether it considers the neighbours of a text. If not, the parts of a sentence that spans cues are sent as one text. */
  readonly seesNeighbours: boolean;
  /** Finds the language of texts, or is null if it cannot. @throws JobFailure LANGUAGE_NOT_SUPPORTED if it is uncertain */
  readonly detect: ((texts: readonly string[], run: EngineRun) => Promise<string>) | null;
  /** Returns one translation for each text, in the same order. @throws JobFailure, ProgramMissing, ChildFailure */
  translate(task: TranslationTask, work: BackendWork): Promise<readonly string[]>;
}

export interface SpeechRequest {
  /** Without markup, on one row. */
  readonly text: string;
  /** BCP 47 tag. */
  readonly language: string;
  readonly voiceMode: VoiceMode;
  /** From 1, which is natural, to `mostSpeed`. */
  readonly speed: number;
}

/** Text to sound. */
export interface Speaker extends Backend {
  /** Returns its languages, each with the names of its voices, to be listed. */
  voices(
    run: EngineRun,
  ): Promise<readonly { readonly language: string; readonly voices: readonly string[] }[]>;
  /** Returns whether it has a voice for a language, matching regional varieties. */
  supports(language: string, run: EngineRun): Promise<boolean>;
  /** The fastest speed that it can be asked for; 1 if it has only its natural one. */
  readonly mostSpeed: number;
  /** Whether it always speaks with the usual loudness. If not, each dub is measured and levelled. */
  readonly isLevel: boolean;
  /** @throws JobFailure, ProgramMissing, ChildFailure */
  speak(request: SpeechRequest, run: EngineRun): Promise<Clip>;
}

/** Speech that was detected before the separation. */
export interface DetectedSpeech {
  readonly segments: readonly Segment[];
  /** 16 kHz mono WAV for recognition; null if it was not requested. */
  readonly voice: string | null;
}

export interface Stems {
  /** WAV files of any sample rate and number of channels; they are converted. */
  readonly vocals: string;
  readonly background: string;
  /** Null: speech is detected in the vocals. */
  readonly speech: DetectedSpeech | null;
}

export interface SeparationTask {
  /** 48 kHz stereo WAV of 16-bit samples. */
  readonly mix: string;
  /** The same sound, 16 kHz mono. */
  readonly mono: string;
  /** Whether the result will be used for recognition. */
  readonly withVoice: boolean;
}

/** Sound to voice and background. */
export interface Separator extends Backend {
  separate(task: SeparationTask, work: BackendWork): Promise<Stems>;
}

/** A time in which one person speaks, in seconds; the turns of two who speak together overlap. */
export interface Turn extends Segment {
  /** Number of the speaker, from 0. */
  readonly speaker: number;
}

/** Sound to speakers. */
export interface Diarizer extends Backend {
  /**
   * Returns the turns in the order of time; none if nobody speaks.
   * @param voice 16 kHz mono WAV file of 16-bit samples
   * @throws JobFailure, ChildFailure
   */
  diarize(voice: string, run: EngineRun): Promise<readonly Turn[]>;
}

/** A finished video to the same with a mark of its own, such as a signed manifest. */
export interface Marker extends Backend {
  /** Returns the path of the new video in the folder of the run. @throws JobFailure */
  mark(video: string, run: EngineRun): Promise<string>;
}

export interface BackendOf {
  recognize: Recognizer;
  translate: Translator;
  speak: Speaker;
  separate: Separator;
  diarize: Diarizer;
  mark: Marker;
}
