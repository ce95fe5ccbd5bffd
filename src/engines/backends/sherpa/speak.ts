/** Speech with voices of sherpa-onnx: VITS such as Piper, Matcha, Kokoro, Kitten, Supertonic, Pocket and ZipVoice. */
import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { NOTHING_SAID, readClip, readSpeech, UnreadableSound } from '../../../media/audio/read-clip.ts';
import { createWav } from '../../../media/audio/wav.ts';
import { hasWords } from '../../../media/subtitles/text.ts';
import type { EngineRun } from '../../../media/work.ts';
import { matchLanguage } from '../../../protocol/languages.ts';
import type { Speaker } from '../../backend.ts';
import type { TypedEntry } from '../../config.ts';
import type { BackendParts } from '../parts.ts';
import { unusableEntryFailure } from '../parts.ts';
import { chooseVoice, MOST_SPEED, spokenLanguages, voiceNames } from '../voice-choice.ts';
import { createWorkers } from '../workers.ts';
import { type OpenedModel, openModel, workerPath } from './model.ts';
import { readLanguages, SPEAKERS, type SpeakerType } from './model-types.ts';
import type { Recording, SherpaRequest, VoiceConfig } from './requests.ts';

/** One cue takes seconds; the first one also loads the model. */
const TIMEOUT = 300;
/** The voice of a model without a choice. */
const FIRST = '0';

/** @throws JobFailure if the folder has no usable voice */
export async function createSherpaSpeaker(
  entry: TypedEntry<'speak', 'sherpa'>,
  parts: BackendParts,
): Promise<Speaker> {
  const model = await openModel(entry, SPEAKERS, parts);
  const { name } = model;
  const listed = spokenLanguages(entry);
  const languages = listed.length > 0 ? listed : await readLanguages(model.found);
  if (languages.length === 0) {
    throw unusableEntryFailure(
      `${name}: its files do not name its language; add it in engines.json, such as "languages": ["es"]`,
    );
  }
  const first = firstVoice(model);
  const names = languages.map((language) => {
    const voices = voiceNames(entry, language);
    return { language, voices: voices.length > 0 ? voices : [first] };
  });
  for (const voice of names.flatMap(({ voices }) => voices)) checkVoice(voice, model);
  const workers = createWorkers<SherpaRequest, never>(
    { name, program: workerPath(), timeout: entry.timeout ?? TIMEOUT, bytes: model.bytes },
    parts,
  );
  return {
    name,
    concurrency: entry.concurrency ?? 1,
    mostSpeed: model.found.type.mostSpeed ?? MOST_SPEED,
    isLevel: false,
    voices: async () => names,
    supports: async (language) => matchLanguage(language, languages) !== null,
    close: workers.close,
    peakBytes: workers.peakBytes,
    async speak({ text, language: wanted, voiceMode, speed }, run) {
      if (!hasWords(text)) return NOTHING_SAID;
      const language = matchLanguage(wanted, languages) ?? wanted;
      const voice = chooseVoice(entry, language, voiceMode) ?? first;
      const file = (kind: string) => join(resolve(run.folder), `${kind}-${randomUUID()}.wav`);
      const [output, heard] = [file('speech'), file('recording')];
      const config = configure(model, language);
      const settings = model.found.type.settings?.(language);
      try {
        const recording = await writeRecording(heard, voice, model, parts, run);
        const speaker = recording === undefined ? Number(voice) : 0;
        const request = { type: 'speak', config, text, speaker, speed, settings, recording, output } as const;
        await workers.call(request, run.signal);
        return await readSpeech(await readFile(output), { backend: name, text }, parts.programs, run);
      } finally {
        await Promise.all([output, heard].map((path) => rm(path, { force: true })));
      }
    },
  };
}

const SOUND = '.wav';
const WORDS = '.txt';

/** Returns the voice of an entry that names none: the first recording beside the model, else the first speaker. */
function firstVoice({ found: { type, folder } }: OpenedModel<SpeakerType>): string {
  if (type.recording === undefined) return FIRST;
  return basename(folder.names.find((file) => file.endsWith(SOUND)) ?? `ana${SOUND}`, SOUND);
}

/** @throws JobFailure if the model has no such voice, as far as its files tell */
function checkVoice(voice: string, { name, found: { type, folder } }: OpenedModel<SpeakerType>): void {
  if (type.recording === undefined) {
    if (/^\d{1,5}$/.test(voice)) return;
    throw unusableEntryFailure(
      `${name}: the voice "${voice}" must be the number of a speaker of the model, such as "0"`,
    );
  }
  const needed = type.recording.needsWords ? [SOUND, WORDS] : [SOUND];
  const missing = needed.map((ending) => voice + ending).filter((file) => !folder.names.includes(file));
  if (missing.length === 0) return;
  const what = type.recording.needsWords
    ? 'a recording of some seconds and its words'
    : 'a recording of some seconds';
  throw unusableEntryFailure(
    `${name}: ${type.title} speaks like ${what}; put ${missing.join(' and ')} into the folder of the model, or name a recording that is there as the voice`,
  );
}

/**
 * Writes the recording of a voice for the worker.
 * @param path WAV to write
 * @throws JobFailure if it is not a sound, ProgramMissing, or the signal's reason
 */
async function writeRecording(
  path: string,
  voice: string,
  { name, found: { type, folder } }: OpenedModel<SpeakerType>,
  { programs }: BackendParts,
  run: EngineRun,
): Promise<Recording | undefined> {
  if (type.recording === undefined) return undefined;
  const file = folder.at(voice + SOUND);
  const { samples, sampleRate } = await readClip(await readFile(file), programs, run).catch((error) => {
    if (!(error instanceof UnreadableSound)) throw error;
    throw unusableEntryFailure(`${name}: the recording ${file} contains ${error.message}`, error);
  });
  const wav = await createWav(path, { sampleRate, channels: 1 });
  await wav.write(samples);
  await wav.close();
  return { path, words: type.recording.needsWords ? (await folder.text(voice + WORDS)).trim() : '' };
}

function configure({ found, paths, threads }: OpenedModel<SpeakerType>, language: string): VoiceConfig {
  const { type, folder } = found;
  const rules = (ending: string) =>
    folder.names
      .filter((file) => file.endsWith(ending))
      .toSorted((a, b) => ruleRank(a) - ruleRank(b))
      .map(folder.at)
      .join(',');
  const own = type.configure?.(paths, language, folder) ?? { [type.key]: paths };
  return {
    model: { ...own, numThreads: threads, provider: 'cpu', debug: 0 },
    maxNumSentences: 1, // at one time, which limits the memory
    ruleFsts: rules('.fst'),
    ruleFars: rules('.far'),
  };
}

/** Numbers inside phone numbers and dates must not be read before these. Source: the examples of sherpa-onnx. */
const RULES = ['phone', 'date', 'number'];

function ruleRank(file: string): number {
  const found = RULES.findIndex((rule) => file.startsWith(rule));
  return found < 0 ? RULES.length : found;
}
