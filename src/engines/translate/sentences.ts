/** Sentences that span several cues: joined for an engine that sees one text at a time, then distributed again. */
import { SPACELESS } from '../../media/subtitles/text.ts';
import { isProtected } from './protected.ts';

/** The only text of a cue. Times in milliseconds. */
export interface CueText {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Whether it may be joined at all: a cue of one speaker with words. */
  readonly isWhole: boolean;
}

/** Whatever closes a quotation or a bracket after it. */
const SENTENCE_END = /[.?!…。！？]["'”’»)\]」』]*$/u;
/** Descriptions of sounds, songs, and rows of another speaker are texts of their own. */
const STANDS_ALONE = /^\s*[-–—[(（【［]|[\])）】］:]\s*$|[♩♪♫♬]/u;

/** A sentence does not continue after a longer pause. */
const MAX_PAUSE_MS = 2_000;
/** Before a capital, a longer pause rather separates two sentences of which the first has no full stop. */
const SHORT_PAUSE_MS = 500;
/** Cues that overlap by more are shown together, such as those of two speakers. */
const MAX_OVERLAP_MS = 500;
/** More is no sentence, but a text without full stops. Both limits keep what is moved between cues small. */
const MAX_CUES = 6;
const MAX_CHARACTERS = 500;
/** Where fewer texts end with a mark, a missing one says nothing about where a sentence ends. */
const PUNCTUATED_SHARE = 1 / 3;

/** Groups the texts of neighbouring cues into sentences. Returns all indexes, in order. */
export function groupSentences(texts: readonly CueText[]): number[][] {
  const ended = texts.filter(({ text }) => SENTENCE_END.test(text.trimEnd())).length;
  const isPunctuated = ended >= texts.length * PUNCTUATED_SHARE;
  const groups: number[][] = [];
  let length = 0;
  for (const [at, next] of texts.entries()) {
    const group = groups.at(-1);
    const previous = texts[at - 1];
    const fits = (group?.length ?? 0) < MAX_CUES && length + next.text.length <= MAX_CHARACTERS;
    if (group !== undefined && previous !== undefined && fits && continues(previous, next, isPunctuated)) {
      group.push(at);
      length += next.text.length;
    } else {
      groups.push([at]);
      length = next.text.length;
    }
  }
  return groups;
}

function continues(previous: CueText, next: CueText, isPunctuated: boolean): boolean {
  const pause = next.startMs - previous.endMs;
  if (!previous.isWhole || !next.isWhole) return false;
  if (pause > MAX_PAUSE_MS || pause < -MAX_OVERLAP_MS || next.startMs <= previous.startMs) return false;
  if (STANDS_ALONE.test(previous.text) || STANDS_ALONE.test(next.text)) return false;
  const before = previous.text.trimEnd();
  if (SENTENCE_END.test(before)) return false;
  const first = /[\p{L}\p{N}]/u.exec(next.text)?.[0] ?? '';
  if (/\p{Ll}/u.test(first) || /[,;،、，；]$/u.test(before)) return true;
  // A name, a German noun, "I", or a script without capitals.
  return isPunctuated && pause <= SHORT_PAUSE_MS && isCapitals(before) === isCapitals(next.text);
}

/** Titles in capitals have no full stop. */
function isCapitals(text: string): boolean {
  return /\p{Lu}/u.test(text) && !/\p{Ll}/u.test(text);
}

/**
 * A clause that ends this close to the exact place, in characters, ends its cue: about one word. Readers expect the break
 * there.
 */
const CLAUSE_PULL = 8;

/**
 * Distributes a translation over the cues of its sentence, in proportion to the lengths of the sources, and only between
 * words.
 * @returns one text for each source; null if there are not enough words
 */
export function distributeTranslation(
  translated: string,
  sources: readonly string[],
  language: string,
): string[] | null {
  const text = translated.replace(/\s+/g, ' ').trim();
  const places = breaksIn(text, language);
  const total = sum(sources);
  const parts: string[] = [];
  let from = 0;
  let next = 0;
  for (let cut = 1; cut < sources.length; cut += 1) {
    const exact = (sum(sources.slice(0, cut)) / total) * text.length;
    const last = places.length - (sources.length - cut);
    if (next > last) return null;
    let best = next;
    for (let at = next; at <= last; at += 1) {
      if (distance(text, places[at] ?? 0, exact) < distance(text, places[best] ?? 0, exact)) best = at;
    }
    const place = places[best] ?? text.length;
    parts.push(text.slice(from, place).trim());
    from = place;
    next = best + 1;
  }
  return [...parts, text.slice(from).trim()];
}

function distance(text: string, place: number, exact: number): number {
  const isClause = /[,;:.!?…—–،、，；：。]["'”’»)]*\s*$/u.test(text.slice(Math.max(0, place - 4), place));
  return Math.abs(place - exact) - (isClause ? CLAUSE_PULL : 0);
}

function sum(texts: readonly string[]): number {
  return texts.reduce((length, text) => length + text.length, 0);
}

/**
 * Returns the places where a text can be cut: after spaces, and between words of scripts without spaces. A placeholder is
 * not cut.
 */
function breaksIn(text: string, language: string): number[] {
  const spaces = [...text.matchAll(/\s/g)]
    .filter(({ index }) => !isProtected(text, index))
    .map(({ index }) => index + 1);
  if (!SPACELESS.test(text)) return spaces;
  const words = [...new Intl.Segmenter(language, { granularity: 'word' }).segment(text)]
    .filter(({ index, isWordLike }) => index > 0 && isWordLike === true)
    .filter(
      ({ index, segment }) => SPACELESS.test(segment.charAt(0)) || SPACELESS.test(text.charAt(index - 1)),
    )
    .map(({ index }) => index);
  return [...new Set([...spaces, ...words])].sort((a, b) => a - b);
}
