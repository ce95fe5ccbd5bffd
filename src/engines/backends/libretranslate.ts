/** Translation by a LibreTranslate server. Each text is translated separately. */
import * as v from 'valibot';
import { hasWords } from '../../media/subtitles/text.ts';
import type { EngineRun } from '../../media/work.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import type { LanguagePair } from '../../protocol/languages.ts';
import { matchLanguage } from '../../protocol/languages.ts';
import type { BackendWork, TranslationTask, Translator } from '../backend.ts';
import type { TypedEntry } from '../config.ts';
import { createServer, jsonBody, ServerRefusal } from './http.ts';
import type { BackendParts } from './parts.ts';

/** Cues of one request. Public servers limit the number; then it is halved. */
const BATCH = 50;
/** 2 minutes: a batch takes some seconds on a processor without graphics card. */
const TIMEOUT_SECONDS = 120;
const CONCURRENCY = 4;
/** Enough text to know a language by, in characters, and below the limits of public servers. */
const SAMPLE = 1_000;
/** Percent. Below, the server is rather guessing. */
const MIN_CONFIDENCE = 50;

/** Codes of the server that are no tag, or a wider one than they mean. Source: its `language.py`, versions 1.3 to 1.9. */
const TAGS: Readonly<Record<string, string>> = { pb: 'pt-BR', zh: 'zh-Hans', zt: 'zh-Hant' };

const Languages = v.array(v.object({ code: v.string(), targets: v.optional(v.array(v.string())) }));
const Translated = v.object({ translatedText: v.array(v.string()) });
const Detections = v.array(v.object({ confidence: v.number(), language: v.string() }));

interface Direction extends LanguagePair {
  /** Codes of the server. */
  readonly source: string;
  readonly target: string;
}

/** Creates the translator of an entry. Nothing is sent before the first call. */
export function createLibreTranslate(
  entry: TypedEntry<'translate', 'libretranslate'>,
  parts: BackendParts,
): Translator {
  const name = 'libretranslate';
  const server = createServer(entry, { name, timeout: TIMEOUT_SECONDS, keyIn: 'caller' }, parts);
  let known: readonly Direction[] | null = null;
  let batchSize = BATCH;

  async function directions(run: EngineRun): Promise<readonly Direction[]> {
    known ??= toDirections(await server.sendForJson({ path: '/languages' }, Languages, run), entry.languages);
    return known;
  }

  async function post<Schema extends v.GenericSchema>(
    path: string,
    content: object,
    schema: Schema,
    run: EngineRun,
  ): Promise<v.InferOutput<Schema>> {
    const key = await server.key(run);
    const body = jsonBody({ ...content, ...(key === null ? {} : { api_key: key }) });
    return await server.sendForJson({ path, body }, schema, run);
  }

  async function translate(task: TranslationTask, work: BackendWork): Promise<readonly string[]> {
    const direction = chooseDirection(task, await directions(work));
    if (direction === null) {
      throw new JobFailure('LANGUAGE_NOT_SUPPORTED', `${name} does not translate ${task.from} to ${task.to}`);
    }
    const done = task.texts.map(({ text }) => text);
    const asked = [...done.keys()].filter((at) => hasWords(done[at] ?? ''));
    for (let from = 0; from < asked.length; ) {
      const batch = asked.slice(from, from + batchSize);
      const texts = await translateBatch(
        batch.map((at) => done[at] ?? ''),
        direction,
        work,
      );
      if (texts === null) continue;
      for (const [at, place] of batch.entries()) done[place] = texts[at] ?? '';
      from += batch.length;
      work.report(from / asked.length);
    }
    return done;
  }

  /** Returns null if the server accepts only smaller batches. */
  async function translateBatch(
    texts: readonly string[],
    { source, target }: Direction,
    run: EngineRun,
  ): Promise<readonly string[] | null> {
    try {
      const content = { q: texts, source, target, format: 'text' };
      const { translatedText } = await post('/translate', content, Translated, run);
      if (translatedText.length !== texts.length) {
        throw server.failure(
          `the server returned ${translatedText.length} translations of ${texts.length} cues; see its log`,
        );
      }
      const empty = translatedText.findIndex((text) => text.trim() === '');
      if (empty < 0) return translatedText.map((text) => text.trim());
      const shown = JSON.stringify(texts[empty]?.slice(0, 60));
      throw server.failure(`the server returned an empty translation of ${shown}; correct the cue`);
    } catch (error) {
      const isLimit = error instanceof ServerRefusal && /exceeds text limit/i.test(error.said);
      if (!isLimit || texts.length === 1) throw error;
      batchSize = Math.ceil(texts.length / 2);
      return null;
    }
  }

  async function detect(texts: readonly string[], run: EngineRun): Promise<string> {
    const q = texts.join('\n').slice(0, SAMPLE);
    const [best] = (await post('/detect', { q }, Detections, run)).toSorted(
      (a, b) => b.confidence - a.confidence,
    );
    const tag = best !== undefined && best.confidence >= MIN_CONFIDENCE ? toTag(best.language) : null;
    if (tag !== null) return tag;
    const message = `${name} cannot detect the language of the subtitles; set it with --from (source_language)`;
    throw new JobFailure('LANGUAGE_NOT_SUPPORTED', message);
  }

  return {
    name,
    concurrency: entry.concurrency ?? CONCURRENCY,
    keepsMarkup: false,
    punctuates: true,
    seesNeighbours: false,
    supports: async (pair, run) => chooseDirection(pair, await directions(run)) !== null,
    async pairs(run) {
      return (await directions(run)).map(({ from, to }) => ({ from, to }));
    },
    detect,
    translate,
    async close() {
      server.close();
    },
  };
}

function toTag(code: string): string | null {
  return TAGS[code.toLowerCase()] ?? canonicalLanguage(code.replaceAll('_', '-'));
}

function toDirections(
  languages: v.InferOutput<typeof Languages>,
  allowed: readonly string[] | undefined,
): Direction[] {
  const tags = new Map(
    languages.flatMap(({ code }) => {
      const tag = toTag(code);
      return tag === null || (allowed !== undefined && matchLanguage(tag, allowed) === null)
        ? []
        : [[code, tag] as const];
    }),
  );
  return languages.flatMap(({ code, targets }) =>
    (targets ?? [...tags.keys()]).flatMap((target) => {
      const from = tags.get(code);
      const to = tags.get(target);
      return from === undefined || to === undefined || code === target
        ? []
        : [{ from, to, source: code, target }];
    }),
  );
}

function chooseDirection({ from, to }: LanguagePair, all: readonly Direction[]): Direction | null {
  const source = matchLanguage(
    scripted(from),
    all.map((direction) => direction.from),
  );
  const ways = all.filter((direction) => direction.from === source);
  const target = matchLanguage(
    scripted(to),
    ways.map((direction) => direction.to),
  );
  return ways.find((direction) => direction.to === target) ?? null;
}

/** The two Chinese languages of the server differ in their script: `zh-TW` becomes `zh-Hant`. */
function scripted(tag: string): string {
  const { language, script } = new Intl.Locale(tag).maximize();
  return language === 'zh' ? `zh-${script}` : tag;
}
