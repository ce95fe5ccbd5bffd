/** Recognition with models of sherpa-onnx: whisper, Moonshine, transducers such as Parakeet, SenseVoice, and others. */

import { packRanges, type Segment } from '../../../media/audio/segments.ts';
import { wavSeconds } from '../../../media/audio/wav.ts';
import { languageName } from '../../../protocol/language-tag.ts';
import { matchLanguage } from '../../../protocol/languages.ts';
import type { Recognizer } from '../../backend.ts';
import type { TypedEntry } from '../../config.ts';
import { readHints } from '../hints.ts';
import type { BackendParts } from '../parts.ts';
import { unusableEntryFailure } from '../parts.ts';
import {
  isPunctuated,
  languageTag,
  type Phrase,
  splitWords,
  type TimedText,
  whisperCode,
  wordsOf,
} from '../transcript.ts';
import { createWorkers } from '../workers.ts';
import { findTokenizing } from './hotwords.ts';
import { type OpenedModel, openModel, workerPath } from './model.ts';
import { RECOGNIZERS, type RecognizerType, readLanguages } from './model-types.ts';
import type { RecognizerConfig, SherpaRequest, Utterance } from './requests.ts';

/** A large model on one core takes about four times the length of the sound, which is at most 15 minutes. */
const TIMEOUT = 3_600;

/** @throws JobFailure if the folder has no usable model */
export async function createSherpaRecognizer(
  entry: TypedEntry<'recognize', 'sherpa'>,
  parts: BackendParts,
): Promise<Recognizer> {
  const model = await openModel(entry, RECOGNIZERS, parts);
  const languages = entry.languages ?? (await readLanguages(model.found));
  const [first] = languages;
  if (first === undefined) {
    throw unusableEntryFailure(
      `${model.name}: its files do not name its languages; add them in engines.json, such as "languages": ["en"]`,
    );
  }
  const tokenizing = entry.terms === undefined ? null : await findTokenizing(model.found);
  if (entry.terms !== undefined && tokenizing === null)
    parts.warn(
      `${model.name}: "terms" in engines.json are not used; only transducers with a file bpe.vocab take them`,
    );
  const workers = createWorkers<SherpaRequest, Utterance>(
    { name: model.name, program: workerPath(), timeout: entry.timeout ?? TIMEOUT, bytes: model.bytes },
    parts,
  );
  return {
    name: model.name,
    concurrency: entry.concurrency ?? 1,
    languages: async () => languages,
    close: workers.close,
    peakBytes: workers.peakBytes,
    async recognize(task, work) {
      const asked = task.language === 'auto' ? null : matchLanguage(task.language, languages);
      const { needsLanguage, options } = model.found.type;
      if (asked === null && needsLanguage && languages.length > 1) {
        const message = `${model.name} cannot detect the language of speech and took it for ${languageName(first)}`;
        parts.warn(`${message}; set another with --from (source_language)`);
      }
      const language = asked ?? (needsLanguage || languages.length === 1 ? first : null);
      const seconds = await wavSeconds(task.voice);
      const ranges = packRanges(task.segments, seconds, LEAST_SECONDS);
      const total = ranges.reduce((sum, { start, end }) => sum + end - start, 0);
      const utterances: Utterance[] = [];
      let done = 0;
      const onUtterance = (utterance: Utterance) => {
        const { start, end } = ranges[utterance.range] ?? { start: 0, end: 0 };
        done += end - start;
        utterances.push(utterance);
        work.report(Math.min(1, done / total));
      };
      const config = configure(model, language);
      const hints = tokenizing === null ? [] : await readHints(model.name, entry, parts.env);
      const hotwords = hints.map((term) => tokenizing?.spell(term)).join('/');
      const expecting = {
        ...{ ...config, decodingMethod: 'modified_beam_search' },
        modelConfig: { ...config.modelConfig, ...tokenizing?.config },
      };
      const told = hotwords === '' ? { config } : { config: expecting, hotwords };
      const request = { type: 'recognize', ...told, voice: task.voice, ranges } as const;
      const own = language === null ? undefined : options?.(language);
      await workers.call({ ...request, options: own }, work.signal, onUtterance);
      const phrases = utterances.flatMap((utterance) =>
        phrasesOf(utterance, ranges[utterance.range] ?? { start: 0, end: 0 }),
      );
      const words = wordsOf({ language: null, phrases, words: [] }, { segments: task.segments, seconds });
      const punctuated = isPunctuated(words);
      // Some models know only capitals.
      const isShouted = !punctuated && !words.some(({ text }) => /\p{Ll}/u.test(text));
      return {
        language: language ?? heardLanguage(utterances, languages) ?? first,
        words: isShouted ? words.map((word) => ({ ...word, text: word.text.toLowerCase() })) : words,
        punctuated,
      };
    },
  };
}

/** Returns the phrases that the model timed, or the whole range as one phrase with its timed words. */
export function phrasesOf(utterance: Omit<Utterance, 'range' | 'language'>, range: Segment): Phrase[] {
  const words = timeWords(utterance, range);
  if (words.length > 0 || utterance.phrases.length === 0) return [{ ...range, text: utterance.text, words }];
  return utterance.phrases.map(({ text, start, end }) => {
    const first = Math.min(range.end, range.start + start);
    return { text, start: first, end: Math.min(range.end, Math.max(first, range.start + end)), words: [] };
  });
}

/** The language that most utterances were in. */
function heardLanguage(utterances: readonly Utterance[], languages: readonly string[]): string | null {
  const heard = utterances.flatMap(({ language }) => {
    const tag = languageTag(language.replaceAll(/[<|>]/g, ''));
    const match = tag === null ? null : matchLanguage(tag, languages);
    return match === null ? [] : [match];
  });
  const groups = [...Map.groupBy(heard, (tag) => tag)];
  return groups.toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? null;
}

function configure(
  { found, paths, threads }: OpenedModel<RecognizerType>,
  language: string | null,
): RecognizerConfig {
  const { type } = found;
  const { tokens = '', ...files } = paths;
  const own = type.configure?.(files, language === null ? '' : whisperCode(language), found);
  return {
    // All speech is recognized from a file of this rate. Models that need other features say so in their metadata.
    featConfig: { sampleRate: 16_000, featureDim: 80 },
    modelConfig: {
      ...(own ?? { [type.key]: files }),
      tokens,
      numThreads: threads,
      provider: 'cpu',
      debug: 0,
    },
  };
}

/** Parakeet returns nothing for less sound, in seconds. After the end of the file, the worker reads silence. */
const LEAST_SECONDS = 2;

/** Models time the start of a token. The last token of a word lasts about one short syllable, in seconds. */
const TOKEN_SECONDS = 0.3;

/**
 * Times the words of an utterance by its tokens.
 * @returns no words if the model does not time its tokens, or if they are not the same text
 */
export function timeWords(
  { text, tokens, timestamps }: Pick<Utterance, 'text' | 'tokens' | 'timestamps'>,
  range: Segment,
): TimedText[] {
  if (tokens.length === 0 || tokens.length !== timestamps.length) return [];
  // For each letter, the time of its token.
  const letters = tokens.map((token) => [...plainLetters(token)]);
  const times = letters.flatMap((found, at) => found.map(() => range.start + (timestamps[at] ?? 0)));
  const words = splitWords(text);
  if (plainLetters(words.join('')) !== letters.flat().join('')) return [];
  let before = 0;
  const spans = words.map((word) => {
    const first = before;
    before += [...plainLetters(word)].length;
    return { text: word, start: times[first] ?? range.start, last: times[before - 1] ?? range.start };
  });
  return spans.map(({ text: word, start, last }, at) => {
    const next = spans[at + 1]?.start ?? range.end;
    return { text: word, start, end: Math.max(start, Math.min(next, last + TOKEN_SECONDS)) };
  });
}

/** Tokens mark the start of a word with a space or `▁`, and may differ from the text in case. */
function plainLetters(text: string): string {
  return text.replaceAll(/[\s▁]/g, '').toLowerCase();
}
