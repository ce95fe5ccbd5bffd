/** Translation with Apertium: its pairs, and two pairs through a language in between. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runTogether } from '../../base/together.ts';
import type { Programs } from '../../media/programs/programs.ts';
import { hasWords, stripMarkup } from '../../media/subtitles/text.ts';
import type { EngineRun } from '../../media/work.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import { findPair, sameLanguage } from '../../protocol/languages.ts';
import type { BackendWork, TranslationTask, Translator } from '../backend.ts';
import { BUILT_IN } from '../config.ts';
import { hideProtected } from './protected.ts';

/** The built-in translator. */
export function createApertium(programs: Programs): Translator {
  return {
    name: BUILT_IN.translate[0],
    concurrency: Number.POSITIVE_INFINITY,
    keepsMarkup: false,
    punctuates: false,
    seesNeighbours: false,
    pairs: async (run) => (await listDirections(programs, run)).map(({ modes: _, ...pair }) => pair),
    supports: async (pair, run) => findPair(await listDirections(programs, run), pair) !== undefined,
    detect: (texts, run) => detectLanguage(programs, texts, run),
    translate: (task, work) => translateInBatches(programs, task, work),
    close: async () => {},
  };
}

/**
 * Limits the work that is lost on a cancel and the time between progress reports. A run takes a quarter of a second to
 * start.
 */
const BATCH_SIZE = 500;

async function translateInBatches(
  programs: Programs,
  { texts, ...pair }: TranslationTask,
  work: BackendWork,
): Promise<string[]> {
  const modes = findPair(await listDirections(programs, work), pair)?.modes;
  if (modes === undefined) {
    throw new JobFailure('LANGUAGE_NOT_SUPPORTED', `Apertium does not translate ${pair.from} to ${pair.to}`);
  }
  const translated: string[] = [];
  for (let at = 0; at < texts.length; at += BATCH_SIZE) {
    const batch = texts.slice(at, at + BATCH_SIZE).map(({ text }) => hideProtected(text));
    let answers = batch.map(({ text }) => text);
    // Protected text stays hidden in both steps.
    for (const mode of modes)
      answers = (await runApertium({ ...work, programs, mode }, answers)).map(closeGaps);
    translated.push(...batch.map(({ restore }, place) => restore(answers[place] ?? '')));
    work.report(translated.length / texts.length);
  }
  return translated;
}

/**
 * Apertium leaves a space before the full stop after an unknown word or a contraction. None of these languages uses
 * one.
 */
function closeGaps(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/\s+(?=[.,](?:\s|$))/g, '');
}

/** Marks before words that it could not translate (`*`), inflect (`#`) or find in its dictionary (`@`). */
const MARK = /(^|[\s¿¡"'«“(-])([*@#])(?=\p{L})/gu;

interface ApertiumRun {
  readonly programs: Programs;
  readonly mode: string;
  readonly folder: string;
  readonly signal: AbortSignal;
}

/**
 * Translates texts independently of each other. No text may contain a blank line. Returns the same number of texts, in
 * the same order.
 * @param keepMarks keeps the marks of unknown words, for measuring
 */
async function runApertium(run: ApertiumRun, texts: readonly string[], keepMarks = false): Promise<string[]> {
  if (texts.length === 0) return [];
  // A file, because Apertium reopens /dev/stdin, which fails on a socket with empty output and exit code 0.
  const file = join(run.folder, `${run.mode}.txt`);
  // A blank line ends a sentence for Apertium and is returned unchanged.
  await writeFile(file, `${texts.join('\n\n')}\n`);
  const stdout = await run.programs.run('apertium', [...(keepMarks ? [] : ['-u']), run.mode, file], run);
  const parts = stdout
    .toString('utf8')
    .replace(/\n+$/, '')
    .split(/\n{2,}/);
  if (parts.length !== texts.length) return splitAndRepeat(run, texts, parts, keepMarks);
  return parts.map((part, at) => (keepMarks ? part : removeMarks(part, texts[at] ?? '')));
}

/** If a text was merged with the next one, each half is tried again, until the text in question is alone. */
async function splitAndRepeat(
  run: ApertiumRun,
  texts: readonly string[],
  parts: readonly string[],
  keepMarks: boolean,
): Promise<string[]> {
  if (texts.length === 1) return [parts.join('\n')];
  const middle = Math.ceil(texts.length / 2);
  const first = await runApertium(run, texts.slice(0, middle), keepMarks);
  return [...first, ...(await runApertium(run, texts.slice(middle), keepMarks))];
}

/** Removes the marks, but keeps characters that the source also contains, as in `#1` or `@home`. */
function removeMarks(translated: string, source: string): string {
  return translated.replace(MARK, (match, before: string, mark: string) =>
    source.includes(mark) ? match : before,
  );
}

/**
 * Returns the share of words that Apertium does not know, 0 to 1, in a translation with marks; 1 if there are no words.
 */
function unknownShare(translated: readonly string[]): number {
  const text = translated.join(' ');
  const words = text.match(/\p{L}+/gu)?.length ?? 0;
  const unknown = text.match(/(?:^|[^\p{L}\p{N}])\*(?=\p{L})/gu)?.length ?? 0;
  return words === 0 ? 1 : Math.min(1, unknown / words);
}

/**
 * Number of sample lines, spread over the whole subtitle: enough for a reliable result, a third of a second per
 * language.
 */
const SAMPLE_LINES = 40;
const SAMPLE_CHARACTERS = 200;
/** Apertium's dictionaries know nine of ten words of their own language, except names. */
const MAX_UNKNOWN = 0.35;
/** The second-best language must know clearly fewer words: Catalan and Spanish share a third of their words. */
const MIN_LEAD = 0.15;

/**
 * Finds the language among those that can be translated from.
 * @returns the BCP 47 tag
 * @throws JobFailure LANGUAGE_NOT_SUPPORTED if the language is uncertain
 */
async function detectLanguage(programs: Programs, all: readonly string[], run: EngineRun): Promise<string> {
  const directions = await listDirections(programs, run);
  const texts = sample(all);
  const tasks = [...modesBySource(directions)].map(([language, mode]) => async (signal: AbortSignal) => {
    const translated = await runApertium({ ...run, signal, programs, mode }, texts, true);
    return { language, unknown: unknownShare(translated) };
  });
  const scores = (await runTogether(run.signal, tasks)).sort((a, b) => a.unknown - b.unknown);
  const [best, second] = scores;
  const lead = (second?.unknown ?? 1) - (best?.unknown ?? 1);
  if (best !== undefined && best.unknown <= MAX_UNKNOWN && lead >= MIN_LEAD) return best.language;
  const known = scores.map((score) => score.language).join(', ') || 'none';
  const message = `the language of the subtitles cannot be detected from their text; set it with --from (source_language). Languages that can be translated from: ${known}`;
  throw new JobFailure('LANGUAGE_NOT_SUPPORTED', message);
}

function modesBySource(directions: readonly Direction[]): Map<string, string> {
  const modes = new Map<string, string>();
  for (const {
    from,
    modes: [mode = ''],
  } of directions)
    if (!modes.has(from)) modes.set(from, mode);
  return modes;
}

function sample(all: readonly string[]): string[] {
  const step = Math.max(1, all.length / SAMPLE_LINES);
  const texts: string[] = [];
  for (let at = 0; at < all.length; at += step) {
    const text = stripMarkup(all[Math.floor(at)] ?? '').replaceAll('\n', ' ');
    // Names are unknown in every language.
    const words = text.split(' ').filter((word, position) => position === 0 || !/^\p{Lu}/u.test(word));
    if (words.length > 0) texts.push(words.join(' ').slice(0, SAMPLE_CHARACTERS).toLowerCase());
  }
  return texts.filter(hasWords);
}

export interface Direction {
  /** Apertium's names of the steps, such as `eng-spa`; two if there is a language in between. */
  readonly modes: readonly string[];
  /** BCP 47 tags. */
  readonly from: string;
  readonly to: string;
  /** The language in between. */
  readonly through?: string;
}

/** Asks Apertium for its directions. @throws ProgramMissing */
async function listDirections(programs: Programs, run: EngineRun): Promise<Direction[]> {
  const stdout = await programs.run('apertium', ['-l'], run);
  return addRoutes(parseDirections(stdout.toString('utf8')));
}

/** Parses the list, one mode per line. Modes that are not a language pair are ignored. */
export function parseDirections(list: string): Direction[] {
  return list.split('\n').flatMap((line) => {
    const mode = line.trim();
    const [source, target, ...rest] = mode.split('-');
    const from = toLanguageTag(source ?? '');
    const to = toLanguageTag(target ?? '');
    return rest.length > 0 || from === null || to === null ? [] : [{ modes: [mode], from, to }];
  });
}

/** Languages in between, the preferred one first: Apertium translates from and to these best and most. */
export const BETWEEN = ['es', 'ca'] as const;

/** Adds directions that lead through one language in between, where no pair does without. */
export function addRoutes(pairs: readonly Direction[]): Direction[] {
  const all = [...pairs];
  for (const through of BETWEEN) {
    const into = pairs.filter(({ to }) => to === through);
    const out = pairs.filter(({ from }) => from === through);
    for (const first of into) {
      for (const second of out) {
        const { from } = first;
        const { to } = second;
        const isDirect = pairs.some((pair) => sameLanguage(pair.from, from) && sameLanguage(pair.to, to));
        const isKnown = all.some((route) => route.from === from && route.to === to);
        if (sameLanguage(from, to) || isDirect || isKnown) continue;
        all.push({ modes: [...first.modes, ...second.modes], from, to, through });
      }
    }
  }
  return all;
}

/**
 * Apertium uses ISO 639-3 with a variant after `_`: `eng_US`, `cat_valencia`. Returns null if it is not a valid BCP 47
 * tag.
 */
function toLanguageTag(code: string): string | null {
  return /^[a-z]{2,3}(_\w+)*$/.test(code) ? canonicalLanguage(code.replaceAll('_', '-')) : null;
}
