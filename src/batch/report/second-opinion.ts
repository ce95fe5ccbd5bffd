/** Judges cues by what a recognizer heard of the dub, and by the translation back. Pure. */
import { chrF } from '../../base/chrf.ts';
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import { plainText } from './markup.ts';

export interface TimedText {
  readonly start_ms: number;
  readonly end_ms: number;
  readonly text: string;
}

/** Speech may begin later than its cue, and a recognizer rounds. */
const TOLERATED_MS = 1_500;
/** One or two words are often misheard. */
const SEVERAL_WORDS = 3;
/** A recognizer that mishears fewer words may be wrong itself. */
const MISHEARD_SHARE = 0.5;

/**
 * Finds cues most words of which are not heard at their time.
 * @param heard with the times of the dub
 * @param language BCP 47 tag of the dub
 * @returns a reason for each such cue, by its number
 */
export function judgeHeard(
  cues: readonly (TimedText & { readonly number: number })[],
  heard: readonly TimedText[],
  language: string,
): readonly { readonly cue: number; readonly detail: string }[] {
  const said = heard.flatMap((line) => placeWords(line, language));
  return cues.flatMap(({ number, start_ms, end_ms, text }) => {
    const wanted = wordsOf(text, language).map(({ plain }) => plain);
    if (wanted.length < SEVERAL_WORDS) return [];
    const near = said.filter(({ ms }) => ms >= start_ms - TOLERATED_MS && ms <= end_ms + TOLERATED_MS);
    const left = near.map(({ plain }) => plain);
    const missing = wanted.filter((word) => {
      const at = left.indexOf(word);
      if (at >= 0) left.splice(at, 1);
      return at < 0;
    });
    if (missing.length <= wanted.length * MISHEARD_SHARE) return [];
    const own = said.filter(({ ms }) => ms >= start_ms && ms <= end_ms).map(({ word }) => word);
    const detail = own.length === 0 ? 'nothing of it is heard' : `"${own.join(' ')}" is heard instead`;
    return [{ cue: number, detail }];
  });
}

interface Word {
  readonly word: string;
  /** Without case and accents. */
  readonly plain: string;
}

function wordsOf(text: string, language: string): readonly Word[] {
  const segmenter = new Intl.Segmenter(canonicalLanguage(language) ?? undefined, { granularity: 'word' });
  return [...segmenter.segment(plainText(text))].flatMap(({ segment, isWordLike }) => {
    const plain = segment.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
    return isWordLike === true ? [{ word: segment, plain }] : [];
  });
}

/** The words of a line, spread evenly over its time. */
function placeWords({ start_ms, end_ms, text }: TimedText, language: string) {
  const words = wordsOf(text, language);
  const step = (end_ms - start_ms) / words.length;
  return words.map((word, at) => ({ ...word, ms: start_ms + (at + 0.5) * step }));
}

/** Characters from which a comparison says something. */
const LONG_TEXT = 20;
/** Share of the median of the file: engines differ, and so do languages. */
const FAR_BELOW = 0.5;

/**
 * Finds translations that, translated back, agree far less with their originals than is usual in the file.
 * @returns a reason for each such cue, by its number
 */
export function judgeBack(
  pairs: readonly { readonly number: number; readonly source: string; readonly back: string }[],
): readonly { readonly cue: number; readonly detail: string }[] {
  const rated = pairs
    .filter(({ source }) => source.length >= LONG_TEXT)
    .map((pair) => ({ ...pair, score: chrF([pair.back.toLowerCase()], [pair.source.toLowerCase()]) }));
  const scores = rated.map(({ score }) => score).toSorted((left, right) => left - right);
  const median = scores[Math.floor(scores.length / 2)] ?? 0;
  return rated
    .filter(({ score }) => score < median * FAR_BELOW)
    .map(({ number, back }) => ({
      cue: number,
      detail: `translated back, it is "${back.replaceAll('\n', ' ')}"`,
    }));
}
