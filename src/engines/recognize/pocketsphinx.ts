/** Recognition with PocketSphinx: cuts a separated voice into utterances and runs a process on each core. */

import { existsSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runTogether } from '../../base/together.ts';
import { type Segment, SPEECH_MARGIN } from '../../media/audio/segments.ts';
import { createWav, openWav, WAV_HEADER_BYTES } from '../../media/audio/wav.ts';
import type { Programs } from '../../media/programs/programs.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import { matchLanguage } from '../../protocol/languages.ts';
import type { BackendWork, Recognition, RecognitionTask, Recognizer, Word } from '../backend.ts';
import { BUILT_IN } from '../config.ts';

/** The built-in recognizer. `auto` is the language of the first installed model. */
export function createPocketSphinx(programs: Programs): Recognizer {
  return {
    name: BUILT_IN.recognize[0],
    // It divides each job among the cores itself.
    concurrency: Number.POSITIVE_INFINITY,
    languages: async () => [...new Set(findSpeechModels().map(({ language }) => language))],
    recognize: (task, work) => recognizeWithModel(programs, task, work),
    close: async () => {},
  };
}

async function recognizeWithModel(
  programs: Programs,
  { voice, segments, language }: RecognitionTask,
  work: BackendWork,
): Promise<Recognition> {
  const model = chooseModel(language);
  const utterances = await cutUtterances(voice, segments, work.folder);
  const words = await recognizeUtterances(programs, model, utterances, work);
  return { language: model.language, words, punctuated: false };
}

function chooseModel(wanted: string): SpeechModel {
  const models = findSpeechModels();
  const languages = models.map((model) => model.language);
  const language = wanted === 'auto' ? languages[0] : matchLanguage(wanted, languages);
  const model = models.find((candidate) => candidate.language === language);
  if (model !== undefined) return model;
  throw new JobFailure('LANGUAGE_NOT_SUPPORTED', `PocketSphinx has no model for "${wanted}"`);
}

const FRAMES_PER_SECOND = 100;

/**
 * Tuned by word error rates on LibriVox and on prompts, with and without music: beams wide enough to prune almost no correct
 * word, but only a fifth of the default of states in a frame, which takes less time and is better under music; language
 * weights slightly above the default.
 */
const SEARCH_OPTIONS = [
  ...['-beam', '1e-60', '-wbeam', '1e-40', '-pbeam', '1e-60', '-fwdflatlw', '8', '-bestpathlw', '9'],
  ...['-maxhmmpf', '6000'],
];

/** Seconds of speech that justify another process, which first loads its models for one second. */
const WORTH_A_PROCESS = 10;

/** Log line of a finished utterance: `batch.c(760): utterance-3: 7.09 seconds speech, …`. */
const DONE = /: (utterance-\d+): [\d.]+ seconds speech/;

/** Recognizes all utterances, in one process per core. Returns words in order of time. */
async function recognizeUtterances(
  programs: Programs,
  model: SpeechModel,
  utterances: readonly Utterance[],
  work: BackendWork,
): Promise<Word[]> {
  const lengths = new Map(utterances.map(({ name, length }) => [name, length]));
  if (utterances.length === 0) return [];
  const total = utterances.reduce((sum, { length }) => sum + length, 0);
  const names = utterances.map(({ name }) => name);
  const parameters = await normalizeUtterances(programs, model, names, work);
  let done = 0;
  const onDone = (name: string) => {
    done += lengths.get(name) ?? 0;
    lengths.delete(name); // the log has several lines for one name
    work.report(done / total);
  };
  const processes = Math.min(programs.parallel, Math.ceil(total / WORTH_A_PROCESS));
  const shares = shareOut(utterances, processes);
  const tasks = shares.map(
    (share, at) => (signal: AbortSignal) =>
      recognizeShare(
        programs,
        { model, parameters, share, name: `share-${at}` },
        { ...work, signal },
        onDone,
      ),
  );
  const words = await runTogether(work.signal, tasks);
  return words.flat().sort((a, b) => a.start - b.start);
}

/** Utterances that one process recognizes. */
interface Share {
  readonly model: SpeechModel;
  /** File with the parameters of the front end. */
  readonly parameters: string;
  readonly share: readonly Utterance[];
  /** Name of its files in the work folder. */
  readonly name: string;
}

async function recognizeShare(
  programs: Programs,
  { model, parameters, share, name }: Share,
  work: BackendWork,
  onDone: (utterance: string) => void,
): Promise<Word[]> {
  const file = (ending: string) => join(work.folder, `${name}.${ending}`);
  await writeFile(file('ctl'), share.map((utterance) => `${utterance.name}\n`).join(''));
  const args = [
    ...['-hmm', model.acousticModel, '-lm', model.languageModel, '-dict', model.dictionary],
    ...['-ctl', file('ctl'), '-cepdir', work.folder, '-cepext', '.mfc'],
    ...['-featparams', parameters, '-hypseg', file('seg')],
    ...SEARCH_OPTIONS,
  ];
  const onErrorLine = (line: string) => {
    const match = DONE.exec(line);
    if (match?.[1] !== undefined) onDone(match[1]);
  };
  await programs.run('pocketsphinx_batch', args, { ...work, onErrorLine });
  const byName = new Map(share.map((utterance) => [utterance.name, utterance]));
  const lines = (await readFile(file('seg'), 'utf8')).split('\n');
  return lines.flatMap((line) => {
    const { utterance, words } = parseHypothesis(line);
    const origin = byName.get(utterance);
    if (origin === undefined) return [];
    return words.map(({ text, from, to }) => ({
      text,
      start: origin.start + from / FRAMES_PER_SECOND,
      end: origin.start + to / FRAMES_PER_SECOND,
      segment: origin.segment,
    }));
  });
}

/** A word with its first and last frame of 10 ms. */
interface HeardWord {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** Silence, noise and sentence marks among the words: `<sil>`, `[NOISE]`, `++UM++`. */
const FILLER = /^[<[+]/;
/** An alternative pronunciation in the dictionary: `read(2)`. */
const PRONUNCIATION = /\(\d+\)$/;

/**
 * Parses one line of `pocketsphinx_batch -hypseg`: the name of the utterance, scores marked `S`, `T`, `A` and `L`, then
 * for each word its first frame, two scores and the word; at the end the last frame. Other lines return no words.
 */
export function parseHypothesis(line: string): { utterance: string; words: HeardWord[] } {
  const tokens = line.trim().split(/\s+/);
  const utterance = tokens[0] ?? '';
  const scores = tokens.indexOf('L', 1);
  const body = scores < 0 ? [] : tokens.slice(scores + 2);
  const words: HeardWord[] = [];
  for (let at = 0; at + 4 < body.length; at += 4) {
    const text = body[at + 3] ?? '';
    const from = Number(body[at]);
    const to = Number(body[at + 4]);
    if (FILLER.test(text) || !Number.isInteger(from) || !Number.isInteger(to)) continue;
    words.push({ text: text.replace(PRONUNCIATION, ''), from, to });
  }
  return { utterance, words };
}

interface Utterance {
  /** Name of its file in the work folder, without `.wav`. */
  readonly name: string;
  /** Index of its segment. */
  readonly segment: number;
  /** Time of its first sample in the video, in seconds. */
  readonly start: number;
  /** Length in seconds. */
  readonly length: number;
}

/** Writes each segment of a 16 kHz mono file, with a margin, as a separate WAV file. */
export async function cutUtterances(
  voicePath: string,
  segments: readonly Segment[],
  folder: string,
): Promise<Utterance[]> {
  const voice = await openWav(voicePath);
  const utterances: Utterance[] = [];
  try {
    for (const [segment, { start, end }] of segments.entries()) {
      const from = Math.max(0, Math.round((start - SPEECH_MARGIN) * voice.sampleRate));
      const to = Math.min(voice.frames, Math.round((end + SPEECH_MARGIN) * voice.sampleRate));
      if (to <= from) continue;
      const name = `utterance-${segment}`;
      const file = await createWav(join(folder, `${name}.wav`), voice);
      await file.write(await voice.read(from, to - from));
      await file.close();
      const length = (to - from) / voice.sampleRate;
      utterances.push({ name, segment, start: from / voice.sampleRate, length });
    }
  } finally {
    await voice.close();
  }
  return utterances;
}

/** Distributes utterances evenly over processes: the longest first, to the process with the least work. */
export function shareOut(utterances: readonly Utterance[], processes: number): Utterance[][] {
  const shares: { load: number; items: Utterance[] }[] = Array.from(
    { length: Math.max(1, processes) },
    () => ({
      load: 0,
      items: [],
    }),
  );
  for (const utterance of utterances.toSorted((a, b) => b.length - a.length)) {
    const idlest = shares.reduce((best, share) => (share.load < best.load ? share : best));
    idlest.items.push(utterance);
    idlest.load += utterance.length;
  }
  return shares.map((share) => share.items).filter((items) => items.length > 0);
}

/** The front end of PocketSphinx: no noise or silence removal, because the voice is already separated. */
const FRONT_END = ['-remove_noise', 'no', '-remove_silence', 'no'];

/** Cepstra of a frame, the default of PocketSphinx (`-ceplen`), which all its models use. */
const WIDTH = 13;
/** Before the 32-bit floats is their number. */
const HEADER_BYTES = 4;
const FLOAT_BYTES = 4;

/** The weight of the mean of all utterances against that of one, in frames of 10 ms. Measured in docs/quality.md. */
const SHARED_FRAMES = 300;

/**
 * Subtracting the mean of the cepstra removes the sound of the microphone and the room. The mean of a short utterance also
 * depends on its words, so it is drawn towards the mean of all utterances of the video. Writes the normalized cepstra as `NAME.mfc` beside its `NAME.wav`.
 * @param names of at least one utterance
 * @returns the file with the parameters of the front end, for decoding these cepstra
 */
export async function normalizeUtterances(
  programs: Programs,
  model: SpeechModel,
  names: readonly string[],
  work: BackendWork,
): Promise<string> {
  const at = (file: string) => join(work.folder, file);
  // The program cannot run its front end alone. The search for a phrase adds the least time; its result is not used.
  await writeFile(at('phrase.dict'), 'silence SIL\n');
  await writeFile(at('phrase.kws'), 'silence /1/\n');
  await writeFile(at('cepstra.ctl'), names.map((name) => `${name}\n`).join(''));
  const args = [
    ...['-hmm', model.acousticModel, '-dict', at('phrase.dict'), '-kws', at('phrase.kws')],
    ...['-ctl', at('cepstra.ctl'), '-cepdir', work.folder, '-cepext', '.wav'],
    ...['-adcin', 'yes', '-adchdr', String(WAV_HEADER_BYTES), '-mfclogdir', work.folder, ...FRONT_END],
    ...['-topn', '1', '-beam', '1e-3'],
  ];
  await programs.run('pocketsphinx_batch', args, work);
  // The log of cepstra has a number for each utterance.
  const raw = (index: number) => readFile(at(`${String(index).padStart(9, '0')}.mfc`));
  const shared = newSum();
  for (const index of names.keys()) addFrames(shared, readCepstra(await raw(index)));
  for (const [index, name] of names.entries()) {
    const cepstra = readCepstra(await raw(index));
    await writeFile(at(`${name}.mfc`), writeCepstra(normalizeCepstra(cepstra, shared)));
  }
  const ofModel = join(model.acousticModel, 'feat.params');
  const parameters = existsSync(ofModel) ? await readFile(ofModel, 'utf8') : '';
  await writeFile(at('feat.params'), withoutNormalization(parameters));
  return at('feat.params');
}

/** The frames of speech seen so far. */
interface Sum {
  readonly totals: Float64Array;
  frames: number;
}

/** Returns a sum of no frames. */
export function newSum(): Sum {
  return { totals: new Float64Array(WIDTH), frames: 0 };
}

/** Adds the frames that have sound: in digital silence, the first cepstrum is negative. */
export function addFrames(sum: Sum, cepstra: Float32Array): void {
  for (let at = 0; at + WIDTH <= cepstra.length; at += WIDTH) {
    if ((cepstra[at] ?? 0) < 0) continue;
    for (let index = 0; index < WIDTH; index += 1) {
      sum.totals[index] = (sum.totals[index] ?? 0) + (cepstra[at + index] ?? 0);
    }
    sum.frames += 1;
  }
}

/**
 * Returns the cepstra minus their mean, drawn towards the mean of `shared`.
 * @param shared the frames of all utterances
 */
export function normalizeCepstra(cepstra: Float32Array, shared: Sum): Float32Array {
  if (shared.frames === 0) return cepstra;
  const own = newSum();
  addFrames(own, cepstra);
  const mean = own.totals.map((total, index) => {
    const common = (shared.totals[index] ?? 0) / shared.frames;
    return (total + SHARED_FRAMES * common) / (own.frames + SHARED_FRAMES);
  });
  return cepstra.map((value, at) => value - (mean[at % WIDTH] ?? 0));
}

/** Reads a file of cepstra in the byte order of this machine, as PocketSphinx writes it. */
function readCepstra(file: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(file.subarray(HEADER_BYTES)).buffer);
}

function writeCepstra(cepstra: Float32Array): Buffer {
  const file = Buffer.alloc(HEADER_BYTES + FLOAT_BYTES * cepstra.length);
  new Int32Array(file.buffer, file.byteOffset, 1)[0] = cepstra.length;
  new Float32Array(file.buffer, file.byteOffset + HEADER_BYTES, cepstra.length).set(cepstra);
  return file;
}

/** Parameters in this file of a model override the command line, so normalization can only be turned off here. */
export function withoutNormalization(parameters: string): string {
  return `${parameters.replace(/^\s*-cmn\s+\S+\s*$/gmu, '').trim()}\n-cmn none\n`;
}

/** Folders of the models: Debian and Fedora; Homebrew on Intel and Apple Macs. */
const MODEL_FOLDERS = [
  '/usr/share/pocketsphinx/model',
  '/usr/local/share/pocketsphinx/model',
  '/opt/homebrew/share/pocketsphinx/model',
] as const;

export interface SpeechModel {
  /** BCP 47 tag of the language. */
  readonly language: string;
  readonly acousticModel: string;
  readonly languageModel: string;
  readonly dictionary: string;
}

/** Finds all complete models. A folder is named after its language, such as `en-us`. */
export function findSpeechModels(): SpeechModel[] {
  return MODEL_FOLDERS.filter(existsSync).flatMap((folder) =>
    readdirSync(folder).flatMap((name) => {
      const language = canonicalLanguage(name);
      if (language === null) return [];
      const at = (file: string) => join(folder, name, file);
      const model = {
        language: new Intl.Locale(language).language, // its dictionary also covers other accents
        acousticModel: at(name),
        languageModel: at(`${name}.lm.bin`),
        dictionary: at(`cmudict-${name}.dict`),
      };
      const isWhole = [model.acousticModel, model.languageModel, model.dictionary].every(existsSync);
      return isWhole ? [model] : [];
    }),
  );
}
