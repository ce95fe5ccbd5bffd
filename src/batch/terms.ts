/** Terms of a glossary: finds those that a translation has lost, sends placeholders for them, and says names in other words. Pure. */
import { firstWords, pairCues, type TimedCue } from '../protocol/pair-cues.ts';
import type { SubtitleLine } from '../protocol/subtitle-line.ts';

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

/** Between terms that have the same translation. */
const SEVERAL = ', ';

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

/** The terms of a file in all its languages. */
export interface Terms {
  /** Canonical tags of its columns. */
  readonly languages: readonly string[];
  /** The terms with an expectation in a language, such as `es-MX`, for which a column `es` is enough. */
  in(language: string): readonly Term[];
  /** The names that a dub into a language speaks in other words: `expected` is what it says. */
  said(language: string): readonly Term[];
}

/** Composed, and without characters that are not seen, such as soft hyphens and marks of direction. */
export function plainText(text: string): string {
  return text.normalize('NFC').replace(/\p{Cf}/gu, '');
}

/** The same for two terms that would match the same text. */
export function foldTerm(term: string): string {
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
  const after = term.endsWith('*')
    ? `(?<ending>${IN_WORD}*)`
    : ENDS_JOINED.test(words)
      ? ''
      : `(?!${IN_WORD})`;
  return new RegExp(before + source + after, isExact(words) ? 'gv' : 'giv');
}

/** A place of one of several patterns. */
interface Found {
  readonly pattern: number;
  readonly start: number;
  readonly end: number;
  /** The rest of the word, which a `*` stands for. */
  readonly ending: string;
}

/** Finds the patterns in a text, without overlaps: of several at one place the longest. */
function findAll(patterns: readonly RegExp[], text: string): readonly Found[] {
  const all = patterns.flatMap((pattern, at) =>
    [...text.matchAll(pattern)].map(({ index, 0: match, groups: { ending = '' } = {} }) => ({
      ...{ pattern: at, start: index, end: index + match.length, ending },
    })),
  );
  const found: Found[] = [];
  for (const each of all.toSorted((left, right) => left.start - right.start || right.end - left.end)) {
    if (each.start >= (found.at(-1)?.end ?? 0)) found.push(each);
  }
  return found;
}

/** The text with other words at places in order. */
function replaceAt(text: string, places: readonly Found[], write: (place: Found) => string): string {
  let end = 0;
  const before = places.map((place) => {
    const kept = text.slice(end, place.start);
    end = place.end;
    return kept + write(place);
  });
  return before.join('') + text.slice(end);
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
    const places = findAll(patterns, text).filter(({ pattern }) => {
      const { term, expected } = terms[pattern] ?? {};
      return term === expected;
    });
    const write = ({ start, end }: Found) => `{T${hidden.push({ text: text.slice(start, end), line: at })}}`;
    return { ...line, text: replaceAt(text, places, write) };
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

/**
 * Lines as a dub speaks them. The ending of a name stays. The same array if none has a name.
 * @param names of the language; `term` is what the lines have
 */
export function sayNames(names: readonly Term[], lines: readonly SubtitleLine[]): readonly SubtitleLine[] {
  const patterns = names.map(({ term }) => patternOf(term));
  const said = lines.map((line) => {
    const text = line.text.normalize('NFC');
    const places = findAll(patterns, text);
    const write = ({ pattern, ending }: Found) =>
      `${names[pattern]?.expected.replace(/\*$/, '') ?? ''}${ending}`;
    return places.length === 0 ? line : { ...line, text: replaceAt(text, places, write) };
  });
  return said.every((line, at) => line === lines[at]) ? lines : said;
}
