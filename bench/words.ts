/**
 * Computes how many words of one recognition are in another: the longest common sequence of words at about the same
 * time. Does no I/O.
 */
import type { SubtitleLine } from '../src/protocol/subtitle-line.ts';

/** Seconds. */
export interface TimedWord {
  readonly text: string;
  readonly at: number;
}

/** Two recognitions cut cues differently, and the time of a word is estimated from its position in its cue. */
const SAME_TIME = 2;

/** Returns the words of cues, with a time for each that depends on its position in the cue. */
export function wordsOf(lines: readonly SubtitleLine[]): TimedWord[] {
  return lines.flatMap(({ start_ms, end_ms, text }) =>
    wordsBetween(text, { start: start_ms / 1000, end: end_ms / 1000 }),
  );
}

/** Returns the words of a text that is spoken in that time. */
export function wordsBetween(text: string, { start, end }: { start: number; end: number }): TimedWord[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
  return words.map((word, at) => ({
    text: word,
    at: start + ((at + 0.5) / words.length) * (end - start),
  }));
}

/** Returns how many words both have, in the same order and at about the same time. */
export function countCommon(left: readonly TimedWord[], right: readonly TimedWord[]): number {
  let before = new Uint32Array(right.length + 1);
  for (const word of left) {
    const row = new Uint32Array(right.length + 1);
    for (const [at, other] of right.entries()) {
      const isSame = word.text === other.text && Math.abs(word.at - other.at) <= SAME_TIME;
      row[at + 1] = isSame ? (before[at] ?? 0) + 1 : Math.max(before[at + 1] ?? 0, row[at] ?? 0);
    }
    before = row;
  }
  return before[right.length] ?? 0;
}
