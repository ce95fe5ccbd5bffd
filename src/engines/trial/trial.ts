/** Tries an engine of any step with a short real sample, to show whether it works and how well. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chrF as scoreChrF } from '../../base/chrf.ts';
import { SPEECH_FORMAT, STEM_FORMAT } from '../../media/audio/decode-audio.ts';
import { fileAddress, ownInput, QUIET } from '../../media/programs/arguments.ts';
import type { Programs } from '../../media/programs/programs.ts';
import type { BackendStep, Clip, EngineRun } from '../../media/work.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { baseLanguage } from '../../protocol/language-tag.ts';
import { matchLanguage, sameLanguage } from '../../protocol/languages.ts';
import { editDistance } from '../../protocol/nearest.ts';
import type {
  BackendOf,
  BackendWork,
  Diarizer,
  Marker,
  Recognizer,
  Separator,
  Speaker,
  Translator,
} from '../backend.ts';
import { SENTENCES } from './sentences.ts';

/** Dependencies of a trial: an empty folder, and a clock in milliseconds. */
interface TrialParts extends EngineRun {
  readonly programs: Programs;
  readonly now: () => number;
  /** Languages that the entry of the engine is limited to; empty for all. */
  readonly languages: readonly string[];
  /**
   * Measures as much as it can: translations of forty sentences, and how well a recognizer understands a voice. Returns what it
   * heard; null if none knows the language. Undefined: a short sample is enough.
   */
  readonly listen?: ((clip: Clip, language: string) => Promise<string | null>) | undefined;
}

interface Trial {
  /** Languages of the trial, such as `en` or `en to es`; empty where language does not matter. */
  readonly language: string;
  /** Answer of the engine to the sample. */
  readonly output: string;
  /** Share of wrong words; null if the right ones are not known. */
  readonly wordErrorRate: number | null;
  /** Agreement with the translations of `SENTENCES`, 0 to 100; null without them. */
  readonly chrF: number | null;
  /** Share of the spoken words that a recognizer understands; null if none listened. */
  readonly understood: number | null;
  /** The most memory that the process of the model took; null for other engines. */
  readonly memoryBytes: number | null;
  /** How long the engine took, with the time to load its model. */
  readonly seconds: number;
  /** `seconds` for each second of sound; null for text. */
  readonly realTimeFactor: number | null;
}

/** The engine does not support the language of the sample. */
interface Skipped {
  readonly skipped: string;
}

/**
 * Runs the sample of a step through an engine.
 * @throws JobFailure if the engine fails or its result cannot be used; ProgramMissing, ChildFailure
 */
export async function tryBackend<S extends BackendStep>(
  step: S,
  backend: BackendOf[S],
  parts: TrialParts,
): Promise<Trial | Skipped> {
  const measured = await TRIALS[step](backend, parts);
  if ('skipped' in measured) return measured;
  const memoryBytes = backend.peakBytes?.() ?? null;
  return { wordErrorRate: null, chrF: null, understood: null, memoryBytes, ...measured };
}

type Measured = Pick<Trial, 'language' | 'output' | 'seconds' | 'realTimeFactor'> & Partial<Trial>;

const TRIALS: {
  readonly [S in BackendStep]: (backend: BackendOf[S], parts: TrialParts) => Promise<Measured | Skipped>;
} = {
  recognize: tryRecognizer,
  translate: tryTranslator,
  speak: trySpeaker,
  separate: trySeparator,
  diarize: tryDiarizer,
  mark: tryMarker,
};

const ENGLISH = 'en';
const SOURCES = SENTENCES[ENGLISH] ?? [];

/** Source: speech-0870.flac.license. */
const SPEECH = {
  file: fileURLToPath(new URL('./speech-0870.flac', import.meta.url)),
  seconds: 7.1,
  words:
    'and mister john dashwood had then leisure to consider how much there might be prudently in his power to do for them',
};

async function tryRecognizer(backend: Recognizer, parts: TrialParts): Promise<Measured> {
  const language = await chooseSpoken(backend, parts);
  const voice = join(parts.folder, 'voice.wav');
  await runFfmpeg(parts, [...ownInput(SPEECH.file, 'flac'), ...wavOutput(voice, SPEECH_FORMAT)]);
  const segments = [{ start: 0, end: SPEECH.seconds }];
  const task = { voice, segments, language };
  const { result, seconds } = await timed(parts, () => backend.recognize(task, workOf(parts)));
  const output = result.words.map(({ text }) => text).join(' ');
  const isEnglish = sameLanguage(language, ENGLISH);
  if (isEnglish && output === '') throw trialFailure(backend, 'recognized no word in clear English speech');
  const wordErrorRate = isEnglish ? countWordErrors(SPEECH.words, output) : null;
  return { language, output, wordErrorRate, seconds, realTimeFactor: seconds / SPEECH.seconds };
}

/** English, which the sample is in, or else the first language that the engine is used for. */
async function chooseSpoken(backend: Recognizer, parts: TrialParts): Promise<string> {
  const used = parts.languages.length > 0 ? parts.languages : await backend.languages(parts);
  const language = matchLanguage(ENGLISH, used) ?? used[0];
  if (language === undefined) throw trialFailure(backend, 'supports no language');
  return language;
}

/** Enough to see whether a translator works at all. */
const FEW_SENTENCES = 3;

/** Long enough to speak the longest sentence. */
const SENTENCE_MS = 6_000;

async function tryTranslator(backend: Translator, parts: TrialParts): Promise<Measured | Skipped> {
  const to = await chooseTarget(backend, parts);
  if (to === null) return { skipped: 'it does not translate from English, the language of the sample' };
  const references = parts.listen === undefined ? undefined : SENTENCES[baseLanguage(to)];
  const sources = SOURCES.slice(0, references?.length ?? FEW_SENTENCES);
  const texts = sources.map((text) => ({ text, durationMs: SENTENCE_MS }));
  const task = { from: ENGLISH, to, texts };
  const { result, seconds } = await timed(parts, () => backend.translate(task, workOf(parts)));
  if (result.length !== texts.length || result.some((text) => text.trim() === '')) {
    throw trialFailure(backend, 'left a sentence without a translation');
  }
  if (result.every((text, at) => text.trim() === sources[at])) {
    throw trialFailure(backend, 'returned every sentence as it was');
  }
  const output = result
    .slice(0, FEW_SENTENCES)
    .map((text) => text.trim())
    .join(' ');
  const chrF = references === undefined ? null : scoreChrF(result, references);
  return { language: `${ENGLISH} to ${to}`, output, chrF, seconds, realTimeFactor: null };
}

/** Tried if the engine lists no pairs: some translate whatever they are asked to. */
const COMMON_TARGETS = ['es', 'fr', 'de', 'pt', 'it', 'ca', 'nl', 'zh', 'ja'];

async function chooseTarget(backend: Translator, parts: TrialParts): Promise<string | null> {
  const listed = (await backend.pairs(parts)).flatMap(({ from, to }) =>
    sameLanguage(from, ENGLISH) ? [to] : [],
  );
  for (const to of [...parts.languages, ...COMMON_TARGETS, ...listed]) {
    if (!sameLanguage(to, ENGLISH) && (await backend.supports({ from: ENGLISH, to }, parts))) return to;
  }
  return null;
}

/** Digits, which voices read in their own language. */
const DIGITS = '1, 2, 3, 4, 5, 6, 7, 8, 9, 10.';
/** Seconds in which no voice says the text, or a voice has long said it. */
const TOO_SHORT = 0.3;
const TOO_LONG = 60;
/** Quieter than the noise of a good recording, in decibels below full scale. */
const SILENCE = -60;

async function trySpeaker(backend: Speaker, parts: TrialParts): Promise<Measured> {
  const language = await chooseVoice(backend, parts);
  const said = wordsToSay(language, parts);
  const text = said ?? DIGITS;
  const request = { text, language, voiceMode: 'auto', speed: 1 } as const;
  const { result, seconds } = await timed(parts, () => backend.speak(request, parts));
  const { samples, sampleRate } = result;
  const length = samples.length / sampleRate;
  if (!(length >= TOO_SHORT)) throw trialFailure(backend, `spoke only ${length.toFixed(2)} s`);
  if (length > TOO_LONG) throw trialFailure(backend, `spoke ${length.toFixed(0)} s for one sentence`);
  const level = levelOf(samples);
  if (level < SILENCE) throw trialFailure(backend, 'returned silence');
  const output = `${length.toFixed(1)} s of speech, ${sampleRate} Hz, ${level.toFixed(0)} dB`;
  const heard = said === null ? null : ((await parts.listen?.(result, language)) ?? null);
  const understood = heard === null ? null : Math.max(0, 1 - countWordErrors(text, heard));
  return { language, output, understood, seconds, realTimeFactor: seconds / length };
}

/** Null: digits, which every voice can read. */
function wordsToSay(language: string, { listen }: TrialParts): string | null {
  if (sameLanguage(language, ENGLISH)) return `${SPEECH.words}.`;
  const sentences = listen === undefined ? undefined : SENTENCES[baseLanguage(language)];
  return sentences?.slice(0, FEW_SENTENCES).join(' ') ?? null;
}

async function chooseVoice(backend: Speaker, parts: TrialParts): Promise<string> {
  const listed = (await backend.voices(parts)).map(({ language }) => language);
  for (const language of [...parts.languages, ENGLISH, ...listed]) {
    if (await backend.supports(language, parts)) return language;
  }
  throw trialFailure(backend, 'has no voice for any language');
}

/** Seconds of noise alone before the speech, and the level of the noise. */
const NOISE_SECONDS = 1;
const NOISE_LEVEL = 0.02;

async function trySeparator(backend: Separator, parts: TrialParts): Promise<Measured> {
  const [mix, mono] = [join(parts.folder, 'mix.wav'), join(parts.folder, 'mix-16k.wav')];
  await mixWithNoise(parts, mix, mono);
  const task = { mix, mono, withVoice: false };
  const { result, seconds } = await timed(parts, () => backend.separate(task, workOf(parts)));
  const before = await readSound(parts, mix);
  const voice = await readSound(parts, result.vocals);
  const background = await readSound(parts, result.background);
  const total = before.length / SPEECH_FORMAT.sampleRate;
  for (const [name, sound] of Object.entries({ voice, background })) {
    const length = sound.length / SPEECH_FORMAT.sampleRate;
    // A frame of an encoder or of an analysis.
    if (Math.abs(length - total) > 0.25) {
      throw trialFailure(
        backend,
        `wrote ${length.toFixed(1)} s of ${name} for ${total.toFixed(1)} s of sound`,
      );
    }
  }
  const start = NOISE_SECONDS * SPEECH_FORMAT.sampleRate;
  if (levelOf(voice.subarray(start)) < SILENCE) throw trialFailure(backend, 'wrote a silent voice');
  const removed = levelOf(before.subarray(0, start)) - levelOf(voice.subarray(0, start));
  const output = `noise in the voice ${removed.toFixed(0)} dB lower`;
  return { language: '', output, seconds, realTimeFactor: seconds / total };
}

/** One person speaks in the sample; how many a model finds in it depends on its threshold, so that is only shown. */
async function tryDiarizer(backend: Diarizer, parts: TrialParts): Promise<Measured> {
  const voice = join(parts.folder, 'voice.wav');
  await runFfmpeg(parts, [...ownInput(SPEECH.file, 'flac'), ...wavOutput(voice, SPEECH_FORMAT)]);
  const { result, seconds } = await timed(parts, () => backend.diarize(voice, parts));
  if (result.length === 0) throw trialFailure(backend, 'found nobody who speaks in clear speech');
  const speakers = new Set(result.map(({ speaker }) => speaker)).size;
  const output = `${speakers} ${speakers === 1 ? 'speaker' : 'speakers'}, where one person speaks`;
  return { language: '', output, seconds, realTimeFactor: seconds / SPEECH.seconds };
}

async function tryMarker(backend: Marker, parts: TrialParts): Promise<Measured> {
  const video = join(parts.folder, 'video.mp4');
  await runFfmpeg(parts, [...ownInput(SPEECH.file, 'flac'), '-c:a', 'aac', '-f', 'mp4', fileAddress(video)]);
  const { seconds } = await timed(parts, () => backend.mark(video, parts));
  return { language: '', output: 'returned a video', seconds, realTimeFactor: seconds / SPEECH.seconds };
}

async function mixWithNoise(parts: TrialParts, stereo: string, mono: string): Promise<void> {
  const seconds = NOISE_SECONDS + SPEECH.seconds;
  const noise = `anoisesrc=color=pink:seed=1:amplitude=${NOISE_LEVEL}:sample_rate=${STEM_FORMAT.sampleRate}:duration=${seconds}`;
  const graph = [
    `[0:a]aresample=${STEM_FORMAT.sampleRate},adelay=${NOISE_SECONDS * 1000}[speech]`,
    '[speech][1:a]amix=inputs=2:normalize=0:duration=shortest,asplit[one][other]',
  ];
  await runFfmpeg(parts, [
    ...ownInput(SPEECH.file, 'flac'),
    ...['-f', 'lavfi', '-i', noise, '-filter_complex', graph.join(';')],
    ...['-map', '[one]', ...wavOutput(stereo, STEM_FORMAT)],
    ...['-map', '[other]', ...wavOutput(mono, SPEECH_FORMAT)],
  ]);
}

function wavOutput(
  path: string,
  { sampleRate, channels }: typeof SPEECH_FORMAT | typeof STEM_FORMAT,
): string[] {
  const format = ['-ar', String(sampleRate), '-ac', String(channels), '-c:a', 'pcm_s16le'];
  return [...format, '-fflags', '+bitexact', '-f', 'wav', fileAddress(path)];
}

/** The samples of a WAV file, 16 kHz mono. */
async function readSound(parts: TrialParts, path: string): Promise<Int16Array> {
  const { sampleRate, channels } = SPEECH_FORMAT;
  const format = ['-ar', String(sampleRate), '-ac', String(channels), '-f', 's16le', '-'];
  const bytes = await runFfmpeg(parts, [...ownInput(path, 'wav'), ...format]);
  const copy = Uint8Array.from(bytes.subarray(0, bytes.length - (bytes.length % 2)));
  return new Int16Array(copy.buffer);
}

function runFfmpeg({ programs, signal, folder }: TrialParts, args: readonly string[]): Promise<Buffer> {
  return programs.run('ffmpeg', [...QUIET, ...args], { signal, folder });
}

/** The level of the smallest step of a sample, as that of digital silence. */
const LEAST_LEVEL = -90;

/** Decibels below full scale. */
function levelOf(samples: Int16Array): number {
  const sum = samples.reduce((total, sample) => total + (sample / 32_768) ** 2, 0);
  return Math.max(LEAST_LEVEL, 10 * Math.log10(sum / Math.max(1, samples.length)));
}

function workOf({ signal, folder }: TrialParts): BackendWork {
  return { signal, folder, report: () => {} };
}

async function timed<T>(
  { now }: TrialParts,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly seconds: number }> {
  const begun = now();
  const result = await work();
  return { result, seconds: (now() - begun) / 1000 };
}

function trialFailure({ name }: { readonly name: string }, what: string): JobFailure {
  return new JobFailure('ENGINE_ERROR', `${name} ${what}`, { permanent: true });
}

/** Words that must be changed, added or removed to turn what was heard into what was said, as a share of what was said. */
export function countWordErrors(said: string, heard: string): number {
  const words = (text: string) =>
    text
      .toLowerCase()
      .replace(/\bmr\./g, 'mister')
      .replaceAll('’', "'")
      .match(/[\p{L}\p{M}']+/gu) ?? [];
  const wanted = words(said);
  return editDistance(wanted, words(heard)) / wanted.length;
}
