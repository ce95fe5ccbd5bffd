/** Speech with voices of sherpa-onnx: VITS such as Piper, Matcha, Kokoro, Kitten and Supertonic. */
import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { NOTHING_SAID, readSpeech } from '../../../media/audio/read-clip.ts';
import { hasWords } from '../../../media/subtitles/text.ts';
import { matchLanguage } from '../../../protocol/languages.ts';
import type { Speaker } from '../../backend.ts';
import type { TypedEntry } from '../../config.ts';
import type { BackendParts } from '../parts.ts';
import { unusableEntryFailure } from '../parts.ts';
import { chooseVoice, MOST_SPEED, spokenLanguages, voiceNames } from '../voice-choice.ts';
import { createWorkers } from '../workers.ts';
import { type OpenedModel, openModel, workerPath } from './model.ts';
import { readLanguages, SPEAKERS, type SpeakerType } from './model-types.ts';
import type { SherpaRequest, VoiceConfig } from './requests.ts';

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
  const names = languages.map((language) => {
    const voices = voiceNames(entry, language);
    return { language, voices: voices.length > 0 ? voices : [FIRST] };
  });
  const wrong = names.flatMap(({ voices }) => voices).find((voice) => !/^\d{1,5}$/.test(voice));
  if (wrong !== undefined) {
    throw unusableEntryFailure(
      `${name}: the voice "${wrong}" must be the number of a speaker of the model, such as "0"`,
    );
  }
  const workers = createWorkers<SherpaRequest, never>(
    { name, program: workerPath(), timeout: entry.timeout ?? TIMEOUT, bytes: model.bytes },
    parts,
  );
  return {
    name,
    concurrency: entry.concurrency ?? 1,
    mostSpeed: MOST_SPEED,
    isLevel: false,
    voices: async () => names,
    supports: async (language) => matchLanguage(language, languages) !== null,
    close: workers.close,
    peakBytes: workers.peakBytes,
    async speak({ text, language: wanted, voiceMode, speed }, run) {
      if (!hasWords(text)) return NOTHING_SAID;
      const language = matchLanguage(wanted, languages) ?? wanted;
      const speaker = Number(chooseVoice(entry, language, voiceMode) ?? FIRST);
      const output = join(resolve(run.folder), `speech-${randomUUID()}.wav`);
      const config = configure(model, language);
      const settings = model.found.type.settings?.(language);
      try {
        await workers.call({ type: 'speak', config, text, speaker, speed, settings, output }, run.signal);
        return await readSpeech(await readFile(output), { backend: name, text }, parts.programs, run);
      } finally {
        await rm(output, { force: true });
      }
    },
  };
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
