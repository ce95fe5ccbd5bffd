/** Translation with a GGUF model on this machine, by llama.cpp in a worker. */
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { errorCode } from '../../../base/system-error.ts';
import { hasWords } from '../../../media/subtitles/text.ts';
import { JobFailure } from '../../../protocol/job-failure.ts';
import { languageName } from '../../../protocol/language-tag.ts';
import { type LanguagePair, matchLanguage } from '../../../protocol/languages.ts';
import type { SourceText, Translator } from '../../backend.ts';
import type { TypedEntry } from '../../config.ts';
import { keepProtected } from '../../translate/protected.ts';
import {
  type CueFault,
  findCueFault,
  findSmallModelFault,
  mostCharacters,
  withRowsOf,
} from '../cue-check.ts';
import { MODEL_LANGUAGES } from '../model-languages.ts';
import { memoryOf } from '../model-memory.ts';
import { type BackendParts, expandHome, unusableEntryFailure } from '../parts.ts';
import { openModel } from './model.ts';
import { findLlamaRuntime, locateRuntime, RUNTIME_VERSION } from './runtime.ts';

/** Seconds for one cue; the first one also loads the model. */
const TIMEOUT = 300;
/** Cues before and after. Small models translate more of them into the answer. */
const CONTEXT = 2;
/** Requests for a usable translation. Only the first has the neighbours, which small models sometimes translate, too. */
const TRIES = 4;
/** Tokens of a prompt with its answer: a cue with its neighbours takes some hundred. Memory grows with it. */
const CONTEXT_SIZE = 4_096;
/** Tokens of an answer. The least leaves room for a greeting, the most for the prompt in the context. */
const LEAST_TOKENS = 64;
const MOST_TOKENS = 1_536;
/** Above this number, the speed is that of the memory. */
const USEFUL_THREADS = 8;

/** Source: model card of Hy-MT2. Other models for conversation follow it as well. */
const PROMPT =
  '{context}Translate the following text into {to}. Note that you should only output the translated result without any additional explanation:\n\n{text}';

/** How a cue is asked for. */
interface Asking {
  /** The cues around it. */
  readonly around?: readonly string[];
  /** The most characters of its translation, if the model is told. */
  readonly limit?: number;
  readonly signal: AbortSignal;
}

/** @throws JobFailure if the model or node-llama-cpp is missing */
export async function createLlamaTranslator(
  entry: TypedEntry<'translate', 'llama'>,
  parts: BackendParts,
): Promise<Translator> {
  const path = expandHome(entry.model, parts.env);
  const name = `llama ${basename(path, '.gguf')}`;
  const bytes = memoryOf(entry, await readSize(path, name));
  const folder = locateRuntime(entry, parts.env);
  const runtime = await findLlamaRuntime(folder);
  if (runtime === null) {
    throw unusableEntryFailure(
      `${name}: node-llama-cpp ${RUNTIME_VERSION} is not installed in ${folder}; install it with \`vloc models install\`, or set "runtime" in engines.json`,
    );
  }
  const languages = entry.languages ?? MODEL_LANGUAGES;
  const timeout = entry.timeout ?? TIMEOUT;
  const threads = entry.threads ?? spareThreads(parts);
  const load = { runtime, model: path, threads, contextSize: CONTEXT_SIZE };
  const model = openModel({ name, folder, load, gpu: entry.gpu ?? true, timeout, bytes }, parts);
  const { temperature, topP, topK, repeatPenalty } = entry;
  const sampling = { temperature, topP, topK, repeatPenalty };

  async function ask(prompt: string, source: string, signal: AbortSignal): Promise<string> {
    // A letter takes one token at most in usual scripts, and three as bytes.
    const maxTokens = Math.min(MOST_TOKENS, LEAST_TOKENS + 3 * source.length);
    return withoutReasoning(await model.ask({ prompt, sampling, maxTokens }, signal));
  }

  async function request(
    { text }: SourceText,
    pair: LanguagePair,
    { around = [], limit, signal }: Asking,
  ): Promise<{ readonly text: string; readonly fault: CueFault | null }> {
    const prompt = writePrompt(entry.prompt ?? PROMPT, text, around, pair);
    const answer = await ask(limit === undefined ? prompt : writeLimit(limit) + prompt, text, signal);
    // Much longer than its cue, it is the translation of the neighbours as well.
    const hasNeighbours = around.length > 0 && answer.length > 3 * text.length + 40;
    const fault = findCueFault(answer, text) ?? findSmallModelFault(answer, text, pair);
    return { text: withRowsOf(text, answer), fault: fault ?? (hasNeighbours ? 'is far too long' : null) };
  }

  async function translateCue(
    texts: readonly SourceText[],
    at: number,
    source: SourceText,
    pair: LanguagePair,
    signal: AbortSignal,
  ): Promise<string> {
    let fault: CueFault | null = null;
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const around = attempt === 0 ? contextRows(texts, at, entry.context ?? CONTEXT) : [];
      const answer = await request(source, pair, { around, signal });
      if (answer.fault === null) return shorten(answer.text, source, pair, signal);
      fault = answer.fault;
    }
    throw new JobFailure(
      'ENGINE_ERROR',
      `${name}: the translation of a cue ${fault} after ${TRIES} requests (${JSON.stringify(source.text.slice(0, 60))}); use a larger model, or correct the cue`,
    );
  }

  /** Asks once more, with the limit, for a translation that there is no time to read or speak. The shorter one is used. */
  async function shorten(
    text: string,
    source: SourceText,
    pair: LanguagePair,
    signal: AbortSignal,
  ): Promise<string> {
    const limit = mostCharacters(source.durationMs, pair.to);
    if (text.length <= limit) return text;
    const second = await request(source, pair, { limit, signal });
    const isWhole =
      second.fault === null && keepProtected(source.text, second.text, { numbers: true }) !== null;
    return isWhole && second.text.length < text.length ? second.text : text;
  }

  return {
    name,
    concurrency: entry.concurrency ?? 1,
    // Small models lose tags, so those are removed before and put back afterwards.
    keepsMarkup: false,
    punctuates: true,
    seesNeighbours: true,
    detect: null,
    supports: async ({ from, to }) =>
      from !== to && matchLanguage(from, languages) !== null && matchLanguage(to, languages) !== null,
    pairs: async () =>
      languages.flatMap((from) => languages.filter((to) => to !== from).map((to) => ({ from, to }))),
    async translate({ texts, from, to }, work) {
      const translated: string[] = [];
      for (const [at, source] of texts.entries()) {
        const { text } = source;
        translated.push(
          hasWords(text) ? await translateCue(texts, at, source, { from, to }, work.signal) : text,
        );
        work.report((at + 1) / texts.length);
      }
      return translated;
    },
    close: model.close,
    peakBytes: model.peakBytes,
    where: model.where,
  };
}

/** The first bytes of a GGUF file. */
const MAGIC = 'GGUF';

/** Returns the size of a GGUF file. @throws JobFailure if it is missing or other data */
async function readSize(path: string, name: string): Promise<number> {
  try {
    const file = await open(path);
    try {
      const { buffer } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
      if (buffer.toString('latin1') === MAGIC) return (await file.stat()).size;
    } finally {
      await file.close();
    }
  } catch (error) {
    const why = errorCode(error) === 'ENOENT' ? 'does not exist' : 'cannot be read';
    throw unusableEntryFailure(`${name}: "model" in engines.json ${why} (${path})`, error);
  }
  throw unusableEntryFailure(`${name}: ${path} is not a GGUF file; download the model again`);
}

/** One core stays free: where all are busy, llama.cpp becomes a hundred times slower. */
function spareThreads({ programs }: BackendParts): number {
  return Math.max(1, Math.min(USEFUL_THREADS, programs.parallel - 1));
}

/** Stands for the text in its sentence. */
const PLACE = '…';

/** The texts around one. Those of a sentence that is spoken as one are in one row, with "…" in place of the text. */
export function contextRows(texts: readonly SourceText[], at: number, count: number): readonly string[] {
  const rows: string[] = [];
  const first = Math.max(0, at - count);
  for (const [place, { text }] of texts.slice(first, at + 1 + count).entries()) {
    const row = first + place === at ? PLACE : text;
    const isContinued = texts[first + place - 1]?.continues === true && rows.length > 0;
    if (isContinued) rows.push(`${rows.pop()} ${row}`);
    else rows.push(row);
  }
  return rows.filter((row) => row !== PLACE);
}

/** Fills in the placeholders of a prompt. */
function writePrompt(
  template: string,
  text: string,
  around: readonly string[],
  { from, to }: LanguagePair,
): string {
  const isInside = around.some((row) => row.startsWith(`${PLACE} `) || row.includes(` ${PLACE}`));
  const context =
    around.length === 0
      ? ''
      : `${around.join('\n')}\n\nThe text above is context only${isInside ? `, with "${PLACE}" where the following text belongs` : ''}: do not translate or repeat it.\n\n`;
  const values: Readonly<Record<string, string>> = {
    ...{ context, text },
    from: languageName(from),
    to: languageName(to),
  };
  return template.replaceAll(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole);
}

/** Before the prompt, so that prompts of users need no placeholder for it. */
function writeLimit(characters: number): string {
  return `Use at most ${characters} characters, because there is no time to read or speak more.\n\n`;
}

/** Models that reason write their thoughts before the answer. */
function withoutReasoning(answer: string): string {
  return answer.replace(/^[\s\S]*<\/think>/, '').trim();
}
