/** Groups recognized words into readable cues. */

import type { Segment } from '../../media/audio/segments.ts';
import { joinSpaced } from '../../media/subtitles/text.ts';
import { wrapText } from '../../media/subtitles/wrap.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { Word } from '../backend.ts';

/** Two rows of 42 characters, the usual layout of broadcasters. */
const MAX_CHARACTERS = 84;
/** A longer cue seems to stay too long. */
const MAX_SECONDS = 7;
/** A pause that ends a sentence, in seconds. */
const SENTENCE_PAUSE = 0.6;
/** Between two speech segments, a shorter pause also ends the sentence. */
const SEGMENT_PAUSE = 0.25;
/** A shorter cue cannot be read. It is lengthened if there is space. */
const MIN_SECONDS = 1;

/**
 * Groups words into sentences by their pauses, splits long ones at the best position, and sets the times.
 * @param punctuated the words have capitals and punctuation, which then also end sentences; otherwise they are added
 */
export function wordsToCues(words: readonly Word[], punctuated: boolean): SubtitleLine[] {
  const groups = groupWords(words, punctuated);
  return groups.map(({ part, opens, closes }, at) => {
    const { start, end } = span(part);
    const next = groups[at + 1]?.part[0]?.start ?? Number.POSITIVE_INFINITY;
    const shownUntil = Math.min(next, Math.max(end, start + MIN_SECONDS));
    const startMs = Math.round(start * 1000);
    return {
      index: at + 1,
      start_ms: startMs,
      end_ms: Math.max(startMs + 1, Math.round(shownUntil * 1000)),
      text: wrapText(punctuated ? joined(part) : sentenceText(part, opens, closes)),
    };
  });
}

/** The words of a cue, and whether they open and close a sentence. */
interface CueWords {
  readonly part: readonly Word[];
  readonly opens: boolean;
  readonly closes: boolean;
}

/** Groups words into cues, in order of time. */
export function groupWords(words: readonly Word[], punctuated: boolean): CueWords[] {
  return sentences(words, punctuated).flatMap((sentence) => {
    const parts = splitLong(sentence);
    return parts.map((part, at) => ({ part, opens: at === 0, closes: at === parts.length - 1 }));
  });
}

/** Ends a sentence, whatever quotation mark follows. */
const SENTENCE_END = /[.?!…。？！]["'”’»)]?$/u;
/** Mr. and St., most likely: a full stop after so short a word with a capital ends no sentence. */
const ABBREVIATION = /^\p{Lu}\p{L}{0,2}\.$/u;
/** A shorter sentence, in characters, shares a cue with the next one. */
const SHORT_SENTENCE = 20;

function sentences(words: readonly Word[], punctuated: boolean): Word[][] {
  const groups: Word[][] = [];
  let previous: Word | null = null;
  for (const word of words) {
    const pause = previous === null ? Number.POSITIVE_INFINITY : word.start - previous.end;
    const sameStretch = previous?.segment === word.segment;
    const group = groups.at(-1);
    const isEnded =
      punctuated &&
      group !== undefined &&
      SENTENCE_END.test(previous?.text ?? '') &&
      !ABBREVIATION.test(previous?.text ?? '') &&
      joined(group).length >= SHORT_SENTENCE;
    if (isEnded || pause > (sameStretch ? SENTENCE_PAUSE : SEGMENT_PAUSE)) groups.push([word]);
    else group?.push(word);
    previous = word;
  }
  return groups;
}

/** Splits words in two until no part is too long. */
function splitLong(words: Word[]): Word[][] {
  const { start, end } = span(words);
  const fits = joined(words).length <= MAX_CHARACTERS && end - start <= MAX_SECONDS;
  if (fits || words.length < 2) return [words];
  const at = bestSplit(words);
  return [...splitLong(words.slice(0, at)), ...splitLong(words.slice(at))];
}

/** A pause of one second weighs as much as a distance of four thirds of the text from its middle. */
const PAUSE_WEIGHT = 4;
const BALANCE_WEIGHT = 3;

function bestSplit(words: readonly Word[]): number {
  const total = joined(words).length;
  let best = { at: 1, score: Number.NEGATIVE_INFINITY };
  for (let at = 1; at < words.length; at += 1) {
    const pause = (words[at]?.start ?? 0) - (words[at - 1]?.end ?? 0);
    const imbalance = Math.abs(joined(words.slice(0, at)).length - total / 2) / total;
    const score = PAUSE_WEIGHT * pause - BALANCE_WEIGHT * imbalance;
    if (score > best.score) best = { at, score };
  }
  return best.at;
}

/** From the first word to the last, in seconds. @param words at least one */
export function span(words: readonly Word[]): Segment {
  return { start: words[0]?.start ?? 0, end: words.at(-1)?.end ?? 0 };
}

function joined(words: readonly Word[]): string {
  return joinSpaced(words.map(({ text }) => text));
}

/** Capitalizes a sentence, because the dictionary is in lower case. */
function sentenceText(words: readonly Word[], opens: boolean, closes: boolean): string {
  const text = joined(words)
    .replace(/\bi\b/g, 'I')
    .replace(/\b(mr|mrs|ms|dr)\b/g, (title) => `${title.charAt(0).toUpperCase()}${title.slice(1)}.`);
  const opened = opens ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return closes && !opened.endsWith('.') ? `${opened}.` : opened;
}
