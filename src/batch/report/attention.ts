/** Finds the cues of results that a person should look at, by reasons that need no other engine. Pure. */

import { findMissingCues, pairCues } from '../../protocol/pair-cues.ts';
import { NOTICED_TEMPO, totalTempo } from '../../protocol/provenance.ts';
import { formatTime } from '../../protocol/srt.ts';
import { nameRow } from '../../protocol/subtitle-line.ts';
import type { ItemCue, ItemProvenance } from '../item-provenance.ts';
import {
  type DroppedText,
  describeDrop,
  describeFit,
  describeResidue,
  droppedOf,
  fallbacksOf,
} from '../item-provenance.ts';
import { describeLoss, findStillLost } from '../terms.ts';
import { judgeBack, judgeHeard, type TimedText } from './second-opinion.ts';

export const ATTENTION_CODES = [
  'CUT',
  'FAST',
  'SHIFT',
  'SPEECH',
  'MISSING',
  'EQUAL',
  'NUMBER',
  'ADDRESS',
  'TERM_LOST',
  'NAME',
  'LENGTH',
  'DROPPED',
  'VOICE',
  'ENGINE',
  'HEARD',
  'BACK',
] as const;

interface AttentionReason {
  readonly code: (typeof ATTENTION_CODES)[number];
  /** Without the final period. */
  readonly detail: string;
}

/** A cue, or a whole result, with everything that speaks against it. */
export interface AttentionPlace {
  /** The file to edit, absolute; null if the service kept the text to itself. */
  readonly file: string | null;
  /** Row of the times of the cue in that file, from 1; null if it is not known, and for a whole result. */
  readonly row: number | null;
  /** Number of the cue, from 1; null for a whole result. */
  readonly cue: number | null;
  /** Start in milliseconds; null if it is not known. */
  readonly start_ms: number | null;
  readonly source: string | null;
  readonly text: string | null;
  readonly reasons: readonly AttentionReason[];
}

/** A cue of a file, as `scanSubtitle` reads it. */
interface AttentionCue {
  readonly number: number;
  readonly row: number | null;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly text: string;
}

/** Facts about a result. */
export interface AttentionSubject {
  /** File with the text of the result; null if there is none on this machine. */
  readonly file: string | null;
  readonly cues: readonly AttentionCue[];
  /** The cues that were translated; null if the text was not translated, or the original is not here. */
  readonly source: readonly AttentionCue[] | null;
  /** BCP 47 tag of the source; null if it is not known. */
  readonly sourceLanguage: string | null;
  readonly provenance: ItemProvenance | null;
  /** Texts that a dub cannot say in time, by their cues. */
  readonly speech?: readonly { readonly cue: number; readonly message: string }[];
  /** The words that a recognizer heard in the dub, and the language of the dub. */
  readonly heard?: { readonly cues: readonly TimedText[]; readonly language: string } | undefined;
  /** The cues translated back. */
  readonly back?: readonly AttentionCue[] | undefined;
}

/** CUT, FAST and SPEECH say the same of a text: it is too long for its time. */
const TOO_LONG: readonly string[] = ['CUT', 'FAST', 'SPEECH'] satisfies AttentionReason['code'][];

/** The number of independent reasons. */
export function countReasons({ reasons }: Pick<AttentionPlace, 'reasons'>): number {
  return new Set(reasons.map(({ code }) => (TOO_LONG.includes(code) ? 'CUT' : code))).size;
}

/** `talk.es.srt:12: 00:00:41,200 NUMBER: "1984" is not in the translation`, a line for each reason. @param where the file */
export function describePlace(
  { row, start_ms, reasons }: Pick<AttentionPlace, 'row' | 'start_ms' | 'reasons'>,
  where: string,
): readonly string[] {
  const time = start_ms === null ? '' : `${formatTime(start_ms)} `;
  return reasons.map(({ code, detail }) => `${nameRow(where, row)}: ${time}${code}: ${detail}`);
}

/** The places of one result, in the order of the file. */
export function findAttention({
  file,
  cues,
  source,
  sourceLanguage,
  provenance,
  speech = [],
  heard,
  back = [],
}: AttentionSubject): AttentionPlace[] {
  const reasons = new Map<number, AttentionReason[]>();
  const add = (cue: number, found: readonly AttentionReason[]) =>
    found.length > 0 && reasons.set(cue, [...(reasons.get(cue) ?? []), ...found]);
  for (const fit of provenance?.cues ?? []) for (const cue of fit.cues) add(cue, judgeSpeech(fit));
  for (const { cue, message } of speech) add(cue, [{ code: 'SPEECH', detail: message }]);
  const pairs = source === null ? [] : pairsOf(source, cues);
  const usual = median(
    pairs.flatMap(({ from, to }) => (isLong(from) ? [to.text.length / from.text.length] : [])),
  );
  for (const { from, to } of pairs) add(to.number, judgeTranslation(from, to, usual, sourceLanguage));
  for (const { cue, detail } of heard === undefined ? [] : judgeHeard(cues, heard.cues, heard.language))
    add(cue, [{ code: 'HEARD', detail }]);
  const backOf = new Map(pairsOf(cues, back).map(({ from, to }) => [from.number, to.text]));
  const returned = pairs.map(({ from, to }) => ({
    ...{ number: to.number, source: from.text, back: backOf.get(to.number) ?? '' },
  }));
  if (back.length > 0)
    for (const { cue, detail } of judgeBack(returned)) add(cue, [{ code: 'BACK', detail }]);
  const lost = source === null ? [] : findMissing(source, cues, provenance);
  const absent = new Set(lost.map(({ number }) => number));
  const numbers = new Map(pairs.map(({ from, to }) => [from.number, to.number] as const));
  for (const loss of findStillLost(provenance?.lost_terms ?? [], source, cues))
    if (!absent.has(loss.row))
      add(numbers.get(loss.row) ?? loss.row, [{ code: 'TERM_LOST', detail: describeLoss(loss) }]);
  const paired = new Map(pairs.map(({ from, to }) => [to.number, from] as const));
  const byNumber = new Map(cues.map((cue) => [cue.number, cue] as const));
  const places = [...reasons].map(([number, own]): AttentionPlace => {
    const cue = byNumber.get(number);
    const start_ms = cue?.start_ms ?? null;
    const texts = { source: paired.get(number)?.text ?? null, text: cue?.text ?? null };
    return { file, row: cue?.row ?? null, cue: number, start_ms, ...texts, reasons: own };
  });
  const residue = provenance && describeResidue(provenance);
  const whole = [
    ...(residue === null ? [] : [{ code: 'VOICE', detail: residue } as const]),
    ...(provenance === null ? [] : fallbacksOf(provenance)).map(
      (detail): AttentionReason => ({ code: 'ENGINE', detail }),
    ),
  ];
  const dropped = provenance === null ? [] : droppedOf(provenance);
  const all = [
    ...places,
    ...lost.map((cue) => missingPlace(file, cue)),
    ...dropped.map((text) => droppedPlace(file, text)),
  ].toSorted((left, right) => (left.start_ms ?? 0) - (right.start_ms ?? 0));
  if (whole.length === 0) return all;
  return [...all, { file, row: null, cue: null, start_ms: null, source: null, text: null, reasons: whole }];
}

function judgeSpeech(fit: ItemCue): AttentionReason[] {
  if (fit.fit === 'cut') return [{ code: 'CUT', detail: `its speech is cut off (${describeFit(fit)})` }];
  if (totalTempo(fit) > NOTICED_TEMPO)
    return [{ code: 'FAST', detail: `its speech is fast (${describeFit(fit)})` }];
  return fit.shift_seconds === undefined
    ? []
    : [{ code: 'SHIFT', detail: `its speech is far from its time (${describeFit(fit)})` }];
}

interface Pair {
  readonly from: AttentionCue;
  readonly to: AttentionCue;
}

function pairsOf(source: readonly AttentionCue[], target: readonly AttentionCue[]): readonly Pair[] {
  return pairCues(source, target).flatMap((to, at) => {
    const from = source[at];
    return from === undefined || to === null ? [] : [{ from, to }];
  });
}

/**
 * Cues of the source that have no translation. None if no cue belongs to another: then it is the text of another film, unless it is
 * known that cues are missing.
 */
function findMissing(
  source: readonly AttentionCue[],
  target: readonly AttentionCue[],
  provenance: ItemProvenance | null,
): readonly AttentionCue[] {
  const missing = findMissingCues(source, target);
  const isOther = missing.length === source.length && target.length > 0;
  return isOther && provenance?.missing_cues === undefined ? [] : missing;
}

function missingPlace(file: string | null, { start_ms, text }: AttentionCue): AttentionPlace {
  const reasons = [{ code: 'MISSING', detail: 'it has no translation' }] as const;
  return { file, row: null, cue: null, start_ms, source: text, text: null, reasons };
}

function droppedPlace(file: string | null, dropped: DroppedText): AttentionPlace {
  const { text, part } = dropped;
  // The times of a part are not those of the whole.
  const start_ms = part === undefined ? dropped.start_ms : null;
  const reasons = [{ code: 'DROPPED', detail: describeDrop(dropped) }] as const;
  return { file, row: null, cue: null, start_ms, source: null, text, reasons };
}

function judgeTranslation(
  from: AttentionCue,
  to: AttentionCue,
  usual: number,
  language: string | null,
): AttentionReason[] {
  const reasons: AttentionReason[] = [];
  const add = (code: AttentionReason['code'], detail: string) => reasons.push({ code, detail });
  if (!hasLetters(from.text)) return [];
  if (to.text.trim() === '') return [{ code: 'MISSING', detail: 'its translation is empty' }];
  if (plain(from.text) === plain(to.text) && wordsOf(from.text).length >= SEVERAL_WORDS)
    add('EQUAL', 'its translation is the same as the original');
  const numbers = missingOf(numbersOf(from.text), numbersOf(to.text));
  if (numbers.length > 0) add('NUMBER', `${list(numbers)} is not in the translation`);
  const addresses = missingOf(addressesOf(from.text), addressesOf(to.text));
  if (addresses.length > 0) add('ADDRESS', `${list(addresses)} is not in the translation`);
  const names = missingNames(from.text, to.text, language);
  if (names.length > 0) add('NAME', `${list(names)} is not in the translation`);
  const ratio = to.text.length / from.text.length / usual;
  if (isLong(from) && (ratio > MOST_RATIO || ratio < 1 / MOST_RATIO)) {
    const what = ratio > 1 ? 'longer' : 'shorter';
    const times = (ratio > 1 ? ratio : 1 / ratio).toFixed(1);
    add('LENGTH', `its translation is ${times} times ${what} than is usual in this file`);
  }
  return reasons;
}

/** A single word, such as a name or OK, is often the same in both languages. */
const SEVERAL_WORDS = 3;
/** Characters from which the length of a translation says something. */
const LONG_TEXT = 20;
/** Twice as long happens in good translations of short sentences; three times is a loop or a comment of a model. */
const MOST_RATIO = 2.5;

function isLong({ text }: AttentionCue): boolean {
  return text.length >= LONG_TEXT;
}

function hasLetters(text: string): boolean {
  return /\p{L}/u.test(text);
}

function plain(text: string): string {
  return wordsOf(text).join(' ').toLowerCase();
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/** Digits without separators: 1,000 and 1.000 are the same number. Small numbers are often written as words. */
function numbersOf(text: string): readonly string[] {
  const found = text.normalize('NFKC').match(/\d+(?:[.,\u2019' \u00A0]\d{3})*/g) ?? [];
  return found.map((each) => each.replaceAll(/\D/g, '')).filter((each) => each.length > 1);
}

function addressesOf(text: string): readonly string[] {
  const found = text.match(/\b(?:https?:\/\/|www\.)[^\s<>"]+|[\w.+-]+@[\w-]+\.[\w.-]+/gi) ?? [];
  return found.map((each) => each.replace(/[.,;:!?)]+$/, ''));
}

/** Languages that write all nouns with a capital. */
const CAPITAL_NOUNS = ['de', 'lb'];

/**
 * Names in the middle of a sentence that the translation does not have. Only two words in a row, or words with capitals inside
 * or with digits: single ones are often countries, months or titles, which are translated. None for another script.
 */
function missingNames(source: string, target: string, language: string | null): readonly string[] {
  if (language !== null && CAPITAL_NOUNS.includes(language.split('-')[0] ?? '')) return [];
  if (!/\p{Script=Latin}/u.test(target)) return [];
  const pairs = source.match(/(?<=[\p{Ll},] )\p{Lu}[\p{Ll}\p{M}]+ \p{Lu}[\p{Ll}\p{M}]+/gu) ?? [];
  const marks = source.match(/\b\p{Lu}?\p{Ll}+\p{Lu}[\p{L}\d]*\b|\b\p{Lu}{2,}\d+\b/gu) ?? [];
  const said = target.toLowerCase();
  return [...new Set([...pairs, ...marks])].filter((name) => !said.includes(name.toLowerCase()));
}

function missingOf(wanted: readonly string[], found: readonly string[]): readonly string[] {
  return [...new Set(wanted)].filter((each) => !found.includes(each));
}

function list(texts: readonly string[]): string {
  return texts.map((text) => `"${text}"`).join(', ');
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 1;
}
