/** The tags of a cue: which words they enclose, and how they come back around the words of a translation, always in pairs. Pure. */
import { findPairs, type Tag } from '../../media/subtitles/tags.ts';
import { hasWords, PLAYER_TAG, SPACELESS } from '../../media/subtitles/text.ts';

/** Tags of players and override tags of ASS. */
const MARKUP = new RegExp(String.raw`${PLAYER_TAG}|\{\\[^{}]{0,200}\}`, 'gi');
const LINE_BREAKS = /\s*(?:<\/?br\s*\/?>\s*)+/gi;
/** Override tags that are switched on and off in one block, as in `{\an8\i1}`. */
const BLOCK = /\{(?:\\[^{}\\()]+){2,}\}/g;
const SWITCH = /^\{\\([bius])([01])\}$/i;
const NAME = /^<\/?(\w+)/;

/** Neither spaces nor the characters without a form that are removed from a text before it is sent. */
const SOLID = /[^\s\p{Cc}\u200B\u202A-\u202E\u2066-\u2069\uFEFF]/gu;

/** A stretch of a text between two tags. Places count solid characters, which wrapping does not change. */
export interface Stretch {
  readonly opening: string;
  /** Empty if it lasts to the end of the cue, as override tags may. */
  readonly closing: string;
  readonly from: number;
  readonly to: number;
}

export interface MarkedText {
  /** Without markup, with its rows. */
  readonly plain: string;
  /** Override tags of the whole cue at its start, such as its position. */
  readonly position: string;
  /** Nested or apart, the outer ones first. Each has words. */
  readonly stretches: readonly Stretch[];
}

/** Returns a text whose `<br>` are line breaks. */
export function breakLines(text: string): string {
  return text.replace(LINE_BREAKS, '\n').replace(/^\n+|\n+$/g, '');
}

/** Removes tags of players and override tags, also those that appear when others are removed. */
export function removeMarkup(text: string): string {
  const rest = text.replace(MARKUP, '');
  return rest === text ? text : removeMarkup(rest);
}

export function countSolid(text: string): number {
  return solidOf(text).length;
}

function solidOf(text: string): readonly string[] {
  return text.match(SOLID) ?? [];
}

/** Returns the words of a stretch, on one row. */
export function wordsOf(text: string, { from, to }: Stretch): string {
  const places = [...text.matchAll(SOLID)];
  return text.slice(places[from]?.index, places[to]?.index).replace(/\s+/g, ' ').trim();
}

interface PlacedTag extends Tag {
  readonly written: string;
  readonly place: number;
}

function readTag(written: string, place: number): PlacedTag {
  const [, name, value] = SWITCH.exec(written) ?? [];
  return name === undefined
    ? { key: NAME.exec(written)?.[1]?.toLowerCase() ?? '', isEnd: written.startsWith('</'), written, place }
    : { key: `\\${name.toLowerCase()}`, isEnd: value === '0', written, place };
}

/** Separates a text from its markup. Tags without a partner are left out. */
export function readMarkup(text: string): MarkedText {
  const switched = text.replace(BLOCK, (block) =>
    block
      .slice(1, -1)
      .split(/(?=\\)/)
      .map((tag) => `{${tag}}`)
      .join(''),
  );
  const tags: PlacedTag[] = [];
  let position = '';
  let plain = '';
  let end = 0;
  for (const { 0: written, index } of switched.matchAll(MARKUP)) {
    plain += switched.slice(end, index);
    end = index + written.length;
    const place = countSolid(plain);
    if (!written.startsWith('{') || SWITCH.test(written)) tags.push(readTag(written, place));
    else if (place === 0) position += written;
  }
  plain += switched.slice(end);
  const place = countSolid(plain);
  const untilEnd = tags
    .filter(({ key, isEnd }) => key.startsWith('\\') && !isEnd)
    .map(({ key }) => ({ key, isEnd: true, written: '', place }));
  const all = [...tags, ...untilEnd.reverse()];
  const solid = solidOf(plain);
  const stretches = findPairs(all).flatMap(({ begin, end: last }): Stretch[] => {
    const [first, second] = [all[begin], all[last]];
    if (first === undefined || second === undefined) return [];
    const isWorded = hasWords(solid.slice(first.place, second.place).join(''));
    const { written: opening, place: from } = first;
    return isWorded ? [{ opening, closing: second.written, from, to: second.place }] : [];
  });
  // Where a tag was inside another one, the places are those of another text.
  return { plain: removeMarkup(plain), position, stretches: removeMarkup(plain) === plain ? stretches : [] };
}

/** Writes the tags of stretches into a text. Those that would cross an earlier one are left out. */
export function writeMarkup(text: string, stretches: readonly Stretch[]): string {
  const kept: Stretch[] = [];
  for (const one of stretches) {
    const isApart = kept.every(
      (other) =>
        one.to <= other.from || one.from >= other.to || (one.from >= other.from && one.to <= other.to),
    );
    if (isApart && one.from < one.to) kept.push(one);
  }
  let place = 0;
  return text.replace(SOLID, (character) => {
    const openings = kept.filter(({ from }) => from === place).map(({ opening }) => opening);
    place += 1;
    const closings = kept.filter(({ to }) => to === place).map(({ closing }) => closing);
    return openings.join('') + character + closings.reverse().join('');
  });
}

/** Encloses a whole text. @param stretches the outer ones first */
export function enclose(text: string, stretches: readonly Stretch[]): string {
  return stretches.reduceRight((inner, { opening, closing }) => opening + inner + closing, text);
}

/**
 * Finds a phrase, of which only one may be there.
 * @returns its places, or null
 */
export function findPhrase(text: string, phrase: string): Pick<Stretch, 'from' | 'to'> | null {
  const words = phrase.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
  if (words === '') return null;
  for (const wanted of [phrase.trim(), words]) {
    const pattern = wanted
      .split(/\s+/)
      .map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
      .join('\\s+');
    const [before, after] = SPACELESS.test(wanted)
      ? ['', '']
      : ['(?<![\\p{L}\\p{M}\\p{N}])', '(?![\\p{L}\\p{M}\\p{N}])'];
    const found = [...text.matchAll(new RegExp(before + pattern + after, 'giu'))];
    const [only] = found;
    if (only === undefined) continue;
    if (found.length > 1) return null;
    const from = countSolid(text.slice(0, only.index));
    return { from, to: from + countSolid(only[0]) };
  }
  return null;
}

/**
 * Returns a translation by an engine that keeps markup, with no more than the tags of its source, in pairs. A pair around
 * the whole source encloses the whole translation.
 */
export function keepMarkup(translated: string, source: string): string {
  const { plain, position, stretches } = readMarkup(source);
  const answer = readMarkup(translated);
  const lost = [...stretches];
  const kept = answer.stretches.flatMap((stretch) => {
    const at = lost.findIndex(({ opening }) => opening === stretch.opening);
    if (at < 0) return [];
    const [own] = lost.splice(at, 1);
    return own === undefined ? [] : [{ ...stretch, closing: own.closing }];
  });
  const whole = lost.filter((stretch) => isAround(stretch, plain));
  return position + enclose(writeMarkup(answer.plain, kept), whole);
}

/** Whether a stretch has all words of a text. @param start the place where the text begins */
export function isAround({ from, to }: Stretch, text: string, start = 0): boolean {
  const outside = solidOf(text).filter((_, at) => at + start < from || at + start >= to);
  return !hasWords(outside.join(''));
}
