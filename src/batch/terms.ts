/**
 * Terms of a glossary: reads the file of `--terms`, and finds those that a translation has lost. Pure but for
 * the reading.
 */
import { resolve } from 'node:path';
import { usageFailure } from '../base/failure.ts';
import { baseLanguage, canonicalLanguage, isKnownLanguage } from '../protocol/language-tag.ts';
import { firstWords, pairCues, type TimedCue } from '../protocol/pair-cues.ts';
import type { SubtitleLine } from '../protocol/subtitle-line.ts';
import type { PlanIo } from './plan/batch-plan.ts';
import { readTableFile, type Table } from './plan/lists.ts';

/** The translation of one term into one language. A `*` at the end stands for the rest of a word. */
export interface Term {
  readonly term: string;
  readonly expected: string;
}

/** A term that a translation does not have as often as its source. */
export interface LostTerm extends Term {
  /** Number of the cue, from 1. */
  readonly row: number;
  /** How many times it is missing in this cue. */
  readonly missing: number;
  /** What the translation has there; missing in older records, and for a translation with other cues than its source. */
  readonly text?: string | undefined;
  /** True if the translation was asked for with placeholders for terms. */
  readonly is_masked?: true | undefined;
}

/** The same in a file, as reports have it. */
export interface TermLoss extends LostTerm {
  /** Absolute; `-` for stdout. */
  readonly file: string;
}

/** As much of a line as shows what was made of a term: most lines are shorter. */
const SHOWN_CHARACTERS = 80;

/** `"consejo*" for "board*" is missing in "la mesa"`, and what would help. */
export function describeLoss({ term, expected, missing, text, is_masked: isMasked }: LostTerm): string {
  const isKept = term.split(SEVERAL).includes(expected);
  const what = isKept ? `"${expected}"` : `"${expected}" for "${term}"`;
  const times = missing === 1 ? '' : ` ${missing} times`;
  const where = text === undefined ? 'the translation' : `"${firstWords(text, SHOWN_CHARACTERS)}"`;
  const advice = isKept && isMasked !== true ? '; --mask-terms keeps it' : '';
  return `${what} is missing${times} in ${where}${advice}`;
}

interface TermRow {
  readonly term: string;
  /** By canonical language tag. */
  readonly cells: ReadonlyMap<string, string>;
}

/** The terms of a file in all its languages. */
export interface Terms {
  /** Canonical tags of its columns. */
  readonly languages: readonly string[];
  /** The terms with an expectation in a language, such as `es-MX`, for which a column `es` is enough. */
  in(language: string): readonly Term[];
}

const TERM_COLUMN = 'term';
const NOTE_COLUMN = 'note';
/** Between terms that have the same translation. */
const SEVERAL = ', ';
/** In a cell: the term itself. */
const KEEP = '=';

/**
 * Reads a CSV file with the columns `term`, one for each language, and `note`, which is for people.
 * @param written path as the user wrote it
 * @param targets languages of the run
 * @throws Failure (`usage`, TERMS_INVALID) that lists what is wrong with it
 */
export async function readTerms(
  written: string,
  targets: readonly string[],
  io: Pick<PlanIo, 'cwd' | 'stdin'>,
): Promise<Terms> {
  // A path, so that `-` is not stdin, which may be the input.
  const table = await readTableFile(resolve(io.cwd, written), io);
  const problems: string[] = [];
  const terms = typeof table === 'string' ? null : readRows(table, problems);
  if (typeof table === 'string') problems.push(table);
  const isUseless = terms !== null && targets.every((target) => columnFor(terms.languages, target) === null);
  if (isUseless && problems.length === 0 && targets.length > 0)
    problems.push(`has no column for ${targets.join(' or ')}; its languages: ${terms.languages.join(', ')}`);
  if (terms === null || problems.length > 0) {
    const advice =
      'Write a header such as term,es,fr,note and a row for each term; = keeps a term. Nothing was sent.';
    const errors = problems.map((detail) => ({ pointer: written, detail }));
    throw usageFailure('TERMS_INVALID', `the terms in ${written} cannot be used`, advice, { errors });
  }
  return terms;
}

function readRows(table: Table, problems: string[]): Terms {
  const columns = readColumns(table.titles, problems);
  const rows: TermRow[] = [];
  const seen = new Map<string, number>();
  for (const [at, cells] of table.rows.entries()) {
    const place = `row ${at + 1}`;
    const term = textOf(cells[columns.term]);
    const folded = foldTerm(term);
    const before = seen.get(folded);
    seen.set(folded, before ?? at + 1);
    if (folded === '') problems.push(`${place} has no term`);
    else if (before !== undefined) problems.push(`${place} has the term "${term}" of row ${before} again`);
    const expected = [...columns.languages].map(([title, tag]) => [tag, textOf(cells[title])] as const);
    const given = expected.filter(([, text]) => text !== '');
    for (const [tag, text] of given) {
      if (text !== KEEP && foldTerm(text) === '')
        problems.push(`${place} has nothing before the * for ${tag}`);
    }
    rows.push({ term, cells: new Map(given.map(([tag, text]) => [tag, text === KEEP ? term : text])) });
  }
  if (rows.length === 0) problems.push('has no terms');
  const languages = [...columns.languages.values()];
  return {
    languages,
    in(language) {
      const column = columnFor(languages, language);
      return rows.flatMap(({ term, cells }) => {
        const expected = column === null ? undefined : cells.get(column);
        return expected === undefined ? [] : [{ term, expected }];
      });
    },
  };
}

interface Columns {
  /** Title as written. */
  readonly term: string;
  /** From the title as written to the canonical tag. */
  readonly languages: ReadonlyMap<string, string>;
}

function readColumns(titles: readonly string[], problems: string[]): Columns {
  const languages = new Map<string, string>();
  let term: string | null = null;
  for (const title of titles) {
    const name = title.toLowerCase();
    const tag = canonicalLanguage(title.replaceAll('_', '-'));
    const isTwice =
      name === TERM_COLUMN ? term !== null : tag !== null && [...languages.values()].includes(tag);
    if (isTwice) problems.push(`the column "${title}" appears twice`);
    else if (name === TERM_COLUMN) term = title;
    else if (name === NOTE_COLUMN) continue;
    else if (tag !== null && isKnownLanguage(tag)) languages.set(title, tag);
    else
      problems.push(
        `the column "${title}" is neither ${TERM_COLUMN} nor ${NOTE_COLUMN} nor a language such as es`,
      );
  }
  if (term === null) problems.push(`has no column "${TERM_COLUMN}"`);
  if (languages.size === 0) problems.push('has no column for a language, such as es');
  return { term: term ?? '', languages };
}

/** The column of a language: its own, or that of the language without region. */
function columnFor(columns: readonly string[], language: string): string | null {
  const tag = canonicalLanguage(language) ?? language;
  return [tag, baseLanguage(tag)].find((each) => columns.includes(each)) ?? null;
}

function textOf(cell: unknown): string {
  return cell === undefined || cell === null ? '' : plainText(String(cell)).trim();
}

/** Composed, and without characters that are not seen, such as soft hyphens and marks of direction. */
function plainText(text: string): string {
  return text.normalize('NFC').replace(/\p{Cf}/gu, '');
}

/** The same for two terms that would match the same text. */
function foldTerm(term: string): string {
  const words = term.replace(/\*$/, '').trim();
  return isExact(words) ? words : words.toLowerCase();
}

/** Capitals inside a word, as in iPhone and NASA, belong to the term. */
function isExact(words: string): boolean {
  return /[\p{L}\p{N}]\p{Lu}/u.test(words);
}

/** Scripts that write words without spaces in between, or endings directly after a foreign name. */
const JOINED = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar'];
const JOINED_CLASS = `[${JOINED.map((script) => String.raw`\p{Script=${script}}`).join('')}]`;
/** Characters that continue a word. */
const IN_WORD = String.raw`[[\p{L}\p{M}\p{N}_]--${JOINED_CLASS}]`;
const STARTS_JOINED = new RegExp(`^${JOINED_CLASS}`, 'v');
const ENDS_JOINED = new RegExp(`${JOINED_CLASS}$`, 'v');

/** Matches the term as a whole word; any space within it may be a line break. */
function patternOf(term: string): RegExp {
  const words = term.replace(/\*$/, '').trim();
  const source = words
    .replace(
      /[\^$\\.*+?()[\]{}|/&\-~!#%,:;<=>@`"]/g,
      (mark) => `\\x${mark.charCodeAt(0).toString(16).padStart(2, '0')}`,
    )
    .replace(/\s+/g, String.raw`\s+`)
    .replace(/['’]/g, "['’]");
  const before = STARTS_JOINED.test(words) ? '' : `(?<!${IN_WORD})`;
  const after = term.endsWith('*') ? `${IN_WORD}*` : ENDS_JOINED.test(words) ? '' : `(?!${IN_WORD})`;
  return new RegExp(before + source + after, isExact(words) ? 'gv' : 'giv');
}

/** A place of one of several patterns. */
interface Found {
  readonly pattern: number;
  readonly start: number;
  readonly end: number;
}

/** Finds the patterns in a text, without overlaps: of several at one place the longest. */
function findAll(patterns: readonly RegExp[], text: string): readonly Found[] {
  const all = patterns.flatMap((pattern, at) =>
    [...text.matchAll(pattern)].map(({ index, 0: match }) => ({
      ...{ pattern: at, start: index, end: index + match.length },
    })),
  );
  const found: Found[] = [];
  for (const each of all.toSorted((left, right) => left.start - right.start || right.end - left.end)) {
    if (each.start >= (found.at(-1)?.end ?? 0)) found.push(each);
  }
  return found;
}

/** Returns a function that finds which of the terms occur in a text. */
export function findTerms(terms: readonly Term[]): (text: string) => readonly Term[] {
  const patterns = terms.map(({ term }) => patternOf(term));
  return (text) => {
    const found = new Set(findAll(patterns, plainText(text)).map(({ pattern }) => pattern));
    return terms.filter((_, at) => found.has(at));
  };
}

function countPatterns(found: readonly Found[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { pattern } of found) counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
  return counts;
}

/** Translations that a cue has to have: how often, for which terms, by their text. Terms with the same translation share it. */
type Wanted = ReadonlyMap<string, { readonly count: number; readonly terms: readonly string[] }>;

interface ComparedCue extends CuePair {
  readonly wanted: Wanted;
  /** Occurrences that other cues have taken, by translation. */
  readonly taken: Map<string, number>;
}

/** Marks at the end of a sentence, perhaps within quotes. */
const ENDS_SENTENCE = /[.!?…。！？।؟][\p{P}\p{S}\s]*$/u;

/**
 * Finds the terms that cues of a translation lack, or have less often than their source, in the order of the cues. In a
 * sentence over several cues a term may move to the next or previous one. A translation with other cues than its source is
 * compared as a whole.
 * @param terms of the target language
 */
export function findLostTerms(
  terms: readonly Term[],
  source: readonly TimedCue[],
  translated: readonly TimedCue[],
): readonly LostTerm[] {
  const patterns = terms.map(({ term }) => patternOf(term));
  const wantedIn = (text: string): Wanted => {
    const counts = [...countPatterns(findAll(patterns, plainText(text)))];
    const groups = Map.groupBy(counts, ([at]) => terms[at]?.expected ?? '');
    return new Map(
      [...groups].map(([expected, own]) => [
        expected,
        {
          count: own.reduce((sum, [, count]) => sum + count, 0),
          terms: own.map(([at]) => terms[at]?.term ?? ''),
        },
      ]),
    );
  };
  const cues = pairTexts(source, translated).map(
    (pair): ComparedCue => ({ ...pair, wanted: wantedIn(pair.from), taken: new Map() }),
  );
  const rowOf = (expected: string) => 1 + source.findIndex(({ text }) => wantedIn(text).has(expected));
  return cues.flatMap((cue, at) => {
    const [before, after] = [cues[at - 1], cues[at + 1]];
    const neighbours = [
      ...(before === undefined || ENDS_SENTENCE.test(before.from) ? [] : [before]),
      ...(after === undefined || ENDS_SENTENCE.test(cue.from) ? [] : [after]),
    ];
    const found = countExpected(cue, [...cue.wanted.keys()]);
    return [...cue.wanted].flatMap(([expected, own]): LostTerm[] => {
      let missing = own.count - (found.get(expected) ?? 0);
      for (const neighbour of neighbours) {
        if (missing > 0) missing -= takeSpare(neighbour, expected, missing, [...cue.wanted.keys()]);
      }
      const term = own.terms.join(SEVERAL);
      const lost = { row: cue.row ?? rowOf(expected), term, expected, missing };
      return missing > 0 ? [{ ...lost, text: cue.row === null ? undefined : cue.to }] : [];
    });
  });
}

/**
 * Of terms that a translation had lost, those that it still lacks, also in other cues.
 * @param source null if it is not known: then each is searched for in its cue
 */
export function findStillLost(
  lost: readonly LostTerm[],
  source: readonly TimedCue[] | null,
  translated: readonly TimedCue[],
): readonly LostTerm[] {
  if (source === null)
    return lost.flatMap((loss) => {
      const { row, expected, missing } = loss;
      const pair = { row, from: '', to: translated[row - 1]?.text ?? '' };
      const isStill = (countExpected(pair, [expected]).get(expected) ?? 0) < missing;
      return isStill ? [{ ...loss, text: translated[row - 1]?.text }] : [];
    });
  const isSaid = (term: string) => source.some(({ text }) => patternOf(term).test(plainText(text)));
  // Several terms with the same translation are reported as one.
  const terms = lost.flatMap(({ term, expected }) =>
    (isSaid(term) ? [term] : term.split(SEVERAL)).map((each) => ({ term: each, expected })),
  );
  const distinct = new Map(terms.map((each) => [JSON.stringify(each), each]));
  const isMasked = lost.some(({ is_masked: masked }) => masked) || undefined;
  const still = findLostTerms([...distinct.values()], source, translated);
  return still.map((loss) => ({ ...loss, is_masked: isMasked }));
}

function countExpected({ to }: CuePair, expected: readonly string[]): ReadonlyMap<string, number> {
  const counts = countPatterns(findAll(expected.map(patternOf), plainText(to)));
  return new Map(expected.map((text, at) => [text, counts.get(at) ?? 0]));
}

/** Takes up to `most` occurrences that a cue has beyond its own. @param others texts that are not to be taken for it */
function takeSpare(cue: ComparedCue, expected: string, most: number, others: readonly string[]): number {
  const texts = [...new Set([...others, ...cue.wanted.keys()])];
  const taken = cue.taken.get(expected) ?? 0;
  const own = cue.wanted.get(expected)?.count ?? 0;
  const spare = (countExpected(cue, texts).get(expected) ?? 0) - own - taken;
  const taking = Math.max(0, Math.min(most, spare));
  cue.taken.set(expected, taken + taking);
  return taking;
}

interface CuePair {
  /** Number of the cue in the source; null for all cues. */
  readonly row: number | null;
  readonly from: string;
  readonly to: string;
}

/** The texts of cues that belong together, or of all cues if the translation has others than its source. */
function pairTexts(source: readonly TimedCue[], translated: readonly TimedCue[]): readonly CuePair[] {
  const pairs = pairCues(source, translated);
  if (pairs.filter((pair) => pair !== null).length === translated.length)
    return source.map(({ text }, at) => ({ row: at + 1, from: text, to: pairs[at]?.text ?? '' }));
  const whole = (cues: readonly TimedCue[]) => cues.map(({ text }) => text).join('\n');
  return [{ row: null, from: whole(source), to: whole(translated) }];
}

/** Lines whose kept terms are replaced by placeholders. */
export interface MaskedLines {
  readonly lines: readonly SubtitleLine[];
  /** The term of each placeholder, and the index of its line. */
  readonly hidden: readonly { readonly text: string; readonly line: number }[];
}

const PLACEHOLDER = /\{\s*T\s*(\d+)\s*\}/gi;

/**
 * Replaces terms that stay as they are by `{T1}`, `{T2}`…: engines of the embedded service never change text in braces, and
 * Apertium keeps it by itself. Null if there is nothing to replace, or if the text has such placeholders itself.
 * @param terms of the target language
 */
export function maskTerms(terms: readonly Term[], lines: readonly SubtitleLine[]): MaskedLines | null {
  if (lines.some(({ text }) => text.search(PLACEHOLDER) >= 0)) return null;
  const patterns = terms.map(({ term }) => patternOf(term));
  const hidden: { text: string; line: number }[] = [];
  const masked = lines.map((line, at) => {
    const text = line.text.normalize('NFC');
    let end = 0;
    let rebuilt = '';
    for (const place of findAll(patterns, text)) {
      const { term, expected } = terms[place.pattern] ?? {};
      if (term !== expected) continue;
      hidden.push({ text: text.slice(place.start, place.end), line: at });
      rebuilt += `${text.slice(end, place.start)}{T${hidden.length}}`;
      end = place.end;
    }
    return { ...line, text: rebuilt + text.slice(end) };
  });
  return hidden.length === 0 ? null : { lines: masked, hidden };
}

/** Translated texts with the terms for their placeholders, and the indexes of lines whose placeholders are nowhere. */
export function restoreTerms(
  texts: readonly (string | null)[],
  hidden: MaskedLines['hidden'],
): { readonly texts: (string | null)[]; readonly lost: ReadonlySet<number> } {
  const found = new Set<unknown>();
  const restored = texts.map(
    (text) =>
      text?.replace(PLACEHOLDER, (placeholder, number) => {
        const term = hidden[Number(number) - 1];
        found.add(term);
        return term?.text ?? placeholder;
      }) ?? null,
  );
  return {
    texts: restored,
    lost: new Set(hidden.filter((term) => !found.has(term)).map(({ line }) => line)),
  };
}
