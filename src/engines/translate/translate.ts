/** Translates cues. Returns the same number of cues, with their times. */

import { groupSentences } from '../../media/subtitles/sentences.ts';
import { hasWords, joinSpaced, stripMarkup } from '../../media/subtitles/text.ts';
import { groupUtterances } from '../../media/subtitles/utterances.ts';
import { wrapText } from '../../media/subtitles/wrap.ts';
import type { EngineUse, Subtitle, Work } from '../../media/work.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { findPair, type LanguagePair } from '../../protocol/languages.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { SourceText, Translator } from '../backend.ts';
import { chooseBackend, type StepEngines } from '../choose.ts';
import {
  breakLines,
  countSolid,
  enclose,
  findPhrase,
  isAround,
  keepMarkup,
  readMarkup,
  removeMarkup,
  type Stretch,
  wordsOf,
  writeMarkup,
} from './markup.ts';
import { isProtected, keepProtected, splitAtProtected } from './protected.ts';
import { distributeTranslation } from './sentences.ts';

interface Translation {
  readonly lines: readonly SubtitleLine[];
  /** BCP 47 tags. The source may be `auto`. */
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
}

/**
 * Translates cues. Times and number of cues do not change.
 * @throws JobFailure LANGUAGE_NOT_SUPPORTED if no engine supports the pair, or the language cannot be detected
 */
export async function translateSubtitle(
  engines: StepEngines,
  task: Translation,
  work: Work,
): Promise<{ subtitle: Subtitle; use: EngineUse }> {
  const from = task.sourceLanguage === 'auto' ? await detect(engines, task.lines, work) : task.sourceLanguage;
  const pair = { from, to: task.targetLanguage };
  const { backend, use } = await chooseBackend(
    'translate',
    engines.translate,
    (translator) => translator.supports(pair, work),
    () => noPair(engines, pair, work),
  );
  const through = findPair(await backend.pairs(work), pair)?.through;
  const cues = task.lines.map((line) => takeApart(line, backend));
  const sentences = joinSentences(task.lines, cues, backend);
  const translated = await translateSentences(backend, pair, sentences, work);
  const phrases = await translatePhrases(backend, pair, cues, work);
  const texts: string[][] = cues.map(() => []);
  for (const [at, sentence] of sentences.entries()) {
    for (const [part, cue] of sentence.cues.entries()) texts[cue]?.push(translated[at]?.[part] ?? '');
  }
  const lines = task.lines.map((line, at) => ({
    ...line,
    text: cues[at]?.restore(texts[at] ?? [], phrases[at]) ?? line.text,
  }));
  const engine = through === undefined ? use.engine : `${use.engine} through ${through}`;
  const where = backend.where?.() ?? null;
  const made = { ...use, engine, ...(where === null ? {} : { where }) };
  return { subtitle: { language: task.targetLanguage, lines }, use: made };
}

/** Translates the phrases of each cue. Without an answer the translation is whole, only with fewer tags. */
async function translatePhrases(
  backend: Translator,
  pair: LanguagePair,
  cues: readonly CueParts[],
  work: Work,
): Promise<readonly (readonly string[])[]> {
  const all = cues.flatMap(({ phrases }) => phrases);
  const translated = await translateTexts(backend, pair, all, { ...work, report: () => {} }).catch(
    (error: unknown) => {
      if (work.signal.aborted) throw error;
      return [];
    },
  );
  let next = 0;
  return cues.map(({ phrases }) => {
    const from = next;
    next += phrases.length;
    return translated.slice(from, next);
  });
}

/** Cues that are translated as one text. */
interface Sentence {
  /** The texts that it consists of; more than one if it spans cues. */
  readonly texts: readonly SourceText[];
  /** Which cue each text belongs to. */
  readonly cues: readonly number[];
}

function joinSentences(
  lines: readonly SubtitleLine[],
  cues: readonly CueParts[],
  { seesNeighbours }: Translator,
): Sentence[] {
  const wholes = lines.map(({ start_ms, end_ms }, at) => {
    const texts = cues[at]?.texts ?? [];
    const text = texts[0]?.text ?? '';
    const isWhole = texts.length === 1 && isTranslatable(text);
    return { text, startMs: start_ms, endMs: end_ms, isWhole };
  });
  if (seesNeighbours) return markUtterances(lines, cues);
  const groups = groupSentences(wholes);
  return groups.flatMap((group): Sentence[] => {
    const texts = group.flatMap((at) => cues[at]?.texts ?? []);
    return group.length > 1
      ? [{ texts, cues: group }]
      : texts.map((text) => ({ texts: [text], cues: group }));
  });
}

/** Each text by itself, with whether it goes on in the next one. */
function markUtterances(lines: readonly SubtitleLine[], cues: readonly CueParts[]): Sentence[] {
  const places = lines.map((line, at) => ({ ...line, index: at }));
  const continued = new Set(
    groupUtterances(places).flatMap((parts) =>
      parts.slice(0, -1).flatMap(({ indexes }) => indexes.at(-1) ?? []),
    ),
  );
  return cues.flatMap(({ texts }, at) =>
    texts.map((text, place) => {
      const continues = continued.has(at) && place === texts.length - 1;
      return { texts: [continues ? { ...text, continues } : text], cues: [at] };
    }),
  );
}

/** Returns whether a text has words other than addresses, placeholders and numbers. */
function isTranslatable(text: string): boolean {
  return splitAtProtected(text).pieces.length > 0;
}

/** Translates sentences. Returns the translated texts of each. */
async function translateSentences(
  backend: Translator,
  pair: LanguagePair,
  sentences: readonly Sentence[],
  work: Work,
): Promise<readonly (readonly string[])[]> {
  const wholes = await translateTexts(backend, pair, sentences.map(joinTexts), work);
  const parts = sentences.map(({ texts }, at) => {
    const whole = wholes[at] ?? '';
    const sources = texts.map(({ text }) => text);
    return texts.length === 1 ? [whole] : distributeTranslation(whole, sources, pair.to);
  });
  // Too few words for its cues: each is translated separately.
  const apart = sentences.filter((_, at) => parts[at] === null).flatMap(({ texts }) => texts);
  const alone = await translateTexts(backend, pair, apart, { ...work, report: () => {} });
  let next = 0;
  return sentences.map(({ texts }, at) => {
    const own = parts[at] ?? alone.slice(next, next + texts.length);
    if (parts[at] === null) next += texts.length;
    return own;
  });
}

function joinTexts({ texts }: Sentence): SourceText {
  const [only] = texts;
  if (only !== undefined && texts.length === 1) return only;
  return {
    text: joinSpaced(texts.map(({ text }) => text.trim())),
    durationMs: texts.reduce((sum, { durationMs }) => sum + durationMs, 0),
  };
}

/**
 * Translates texts. Addresses, placeholders and numbers stay as they are: where the engine changed one, only the text
 * around it is translated.
 */
async function translateTexts(
  backend: Translator,
  pair: LanguagePair,
  texts: readonly SourceText[],
  work: Work,
): Promise<readonly string[]> {
  const send = async (some: readonly SourceText[], sending: Work): Promise<readonly string[]> =>
    some.length === 0 ? [] : await backend.translate({ ...pair, texts: some }, sending);
  const asked = texts.filter(({ text }) => isTranslatable(text));
  const answers = await send(asked, work);
  const kept = new Map(
    asked.map((source, at) => {
      const numbers = !backend.keepsMarkup;
      return [source, keepProtected(source.text, answers[at] ?? '', { numbers })] as const;
    }),
  );
  const broken = asked
    .filter((source) => kept.get(source) === null)
    .map((source) => ({ source, split: splitAtProtected(source.text) }));
  const pieces = broken.flatMap(({ source, split }) =>
    split.pieces.map((text) => ({
      text,
      durationMs: (source.durationMs * text.length) / source.text.length,
    })),
  );
  const translatedPieces = await send(pieces, { ...work, report: () => {} });
  let next = 0;
  for (const { source, split } of broken) {
    kept.set(source, split.join(translatedPieces.slice(next, next + split.pieces.length)));
    next += split.pieces.length;
  }
  return texts.map((source) => {
    const translated = kept.get(source) ?? source.text;
    return backend.punctuates ? translated : likeSource(translated, source.text);
  });
}

async function detect(engines: StepEngines, lines: readonly SubtitleLine[], work: Work): Promise<string> {
  const detector = engines.translate.find(({ backend }) => backend.detect !== null)?.backend.detect;
  if (detector == null) {
    const message =
      'no engine can detect the language of the subtitles; set it with --from (source_language)';
    throw new JobFailure('LANGUAGE_NOT_SUPPORTED', message);
  }
  return detector(
    lines.map(({ text }) => text),
    work,
  );
}

async function noPair(engines: StepEngines, { from, to }: LanguagePair, work: Work): Promise<JobFailure> {
  const lists = await Promise.all(engines.translate.map(({ backend }) => backend.pairs(work)));
  const all = lists.flat().map((pair) => `${pair.from} to ${pair.to}`);
  const shown = all.slice(0, MOST_PAIRS).join(', ') || 'none';
  const more = all.length > MOST_PAIRS ? ` and ${all.length - MOST_PAIRS} more` : '';
  return new JobFailure(
    'LANGUAGE_NOT_SUPPORTED',
    `no engine translates ${from} to ${to}; available: ${shown}${more}`,
  );
}

/** A language model translates between thousands of pairs. */
const MOST_PAIRS = 40;

/** A row that begins with a dash belongs to another speaker. */
const SPEAKER = /^\s*[-–—]\s*(?=\S)/;
const SENTENCE_END = /[.?!…]["'”»)]?$/u;

interface CueParts {
  /** Texts to translate, one per speaker; empty if the cue has no words. */
  readonly texts: readonly SourceText[];
  /** Words of a text that tags enclose, to be translated again by themselves: so they are found in the translation. */
  readonly phrases: readonly SourceText[];
  /** Returns the cue with its texts replaced. @param phrases translations of the phrases; where one is not found, its tags are left out */
  restore(translated: readonly string[], phrases?: readonly string[]): string;
}

/** A text of a cue, and its tags. */
interface Part {
  readonly text: string;
  readonly around: readonly Stretch[];
  readonly inside: readonly Stretch[];
}

/** Splits a cue into parts. Rows of one speaker are joined, because sentences span several rows. */
export function takeApart(
  line: Pick<SubtitleLine, 'text' | 'start_ms' | 'end_ms'>,
  { keepsMarkup }: Pick<Translator, 'keepsMarkup'>,
): CueParts {
  const text = breakLines(line.text);
  const durationMs = line.end_ms - line.start_ms;
  const { plain, position, stretches } = readMarkup(text);
  const rows = stripMarkup(plain, 'player').split('\n');
  if (!hasWords(rows.join(''))) return { texts: [], phrases: [], restore: () => line.text };
  if (keepsMarkup) {
    const restore = ([whole = '']: readonly string[]) =>
      wrapUnlessMarked(keepMarkup(breakLines(whole), text));
    return { texts: [{ text, durationMs }], phrases: [], restore };
  }
  const dialogue = rows.length > 1 && rows.every((row) => SPEAKER.test(row));
  const outer = stretches.filter((stretch) => isAround(stretch, plain));
  const inner = stretches.filter((stretch) => !outer.includes(stretch));
  const parts = splitParts(dialogue ? rows : [rows.join(' ')], inner);
  const letters = parts.reduce((sum, part) => sum + part.text.length, 0);
  const timed = (words: string) => ({ text: words, durationMs: (durationMs * words.length) / letters });
  return {
    texts: parts.map((part) => timed(part.text)),
    phrases: parts.flatMap(({ inside }) => inside.map((stretch) => timed(wordsOf(plain, stretch)))),
    restore(translated, phrases = []) {
      let next = 0;
      const written = parts.map(({ around, inside }, at) => {
        const words = removeMarkup(translated[at] ?? '');
        const found = inside.flatMap((stretch, place) => {
          const span = findPhrase(words, removeMarkup(phrases[next + place] ?? ''));
          return span === null ? [] : [{ ...stretch, ...span }];
        });
        next += inside.length;
        return enclose(writeMarkup(dialogue ? words : wrapText(words), found), around);
      });
      return position + enclose(written.map((part) => (dialogue ? `- ${part}` : part)).join('\n'), outer);
    },
  };
}

/** A text that has no rows of its own and no markup gets rows that fit the screen. */
function wrapUnlessMarked(text: string): string {
  return text.includes('\n') || stripMarkup(text) !== text ? text : wrapText(text);
}

/** @param stretches those that have not all words of the cue; of them, those that span two parts are left out */
function splitParts(rows: readonly string[], stretches: readonly Stretch[]): Part[] {
  let start = 0;
  return rows.map((row) => {
    const from = start;
    start += countSolid(row);
    const to = start;
    const own = stretches.filter((stretch) => stretch.from >= from && stretch.to <= to);
    const around = own.filter((stretch) => isAround(stretch, row, from));
    const text = rows.length > 1 ? row.replace(SPEAKER, '') : row;
    return { text, around, inside: own.filter((stretch) => !around.includes(stretch)) };
  });
}

/** Capitalizes the start and ends the sentence as in the source. An address or a placeholder gets no capital. */
export function likeSource(translated: string, source: string): string {
  const text = translated.trim();
  const capital = /^\P{L}*\p{Lu}/u.test(source) && !isProtected(text, text.search(/\p{L}/u));
  const cased = capital ? text.replace(/\p{L}/u, (letter) => letter.toUpperCase()) : text;
  const end = SENTENCE_END.exec(source)?.[0] ?? '';
  return end === '' || SENTENCE_END.test(cased) ? cased : cased + end;
}
