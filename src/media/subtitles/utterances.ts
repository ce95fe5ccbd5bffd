/** Finds the cues that are spoken as one text. Pure. */
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { groupSentences } from './sentences.ts';
import { hasWords, joinSpaced, spokenText, stripMarkup } from './text.ts';

/** The words of a cue, or of cues that begin together; times in milliseconds. */
export interface SpokenPart {
  /** Numbers of its cues. */
  readonly indexes: readonly number[];
  /** On one row, as a voice speaks it. */
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** Cues that begin closer than this cannot be spoken one after the other in their own time. */
const TOGETHER_MS = 400;
/** After a longer pause, a listener expects the rest of a sentence with its cue. */
const MOST_GAP_MS = 600;
/** A row of another speaker, or a cue that says who speaks. */
const IS_DIALOGUE = /^\s*[-–—]|<v[\s.]/m;

/**
 * Returns the cues that have words, in order of time. Those of a sentence are one utterance. Cues that begin at (nearly) the same
 * time, such as those of two speakers, are one part of it: they are spoken one after the other.
 */
export function groupUtterances(lines: readonly SubtitleLine[]): readonly (readonly SpokenPart[])[] {
  const spoken = lines
    .filter((line) => hasWords(spokenText(line.text)))
    .sort((one, other) => one.start_ms - other.start_ms);
  const crowds: SubtitleLine[][] = [];
  for (const line of spoken) {
    const open = crowds.at(-1);
    const isTogether = open?.[0] !== undefined && line.start_ms - open[0].start_ms < TOGETHER_MS;
    if (isTogether) open.push(line);
    else crowds.push([line]);
  }
  const parts = crowds.map(partOf);
  const texts = crowds.map((crowd, at) => ({
    text: stripMarkup(crowd.map(({ text }) => text).join(' ')).replaceAll('\n', ' '),
    startMs: parts[at]?.startMs ?? 0,
    endMs: parts[at]?.endMs ?? 0,
    isWhole: crowd.every((line, place) => {
      const before = crowd[place - 1];
      return !IS_DIALOGUE.test(line.text) && (before === undefined || before.end_ms <= line.start_ms);
    }),
  }));
  return groupSentences(texts, MOST_GAP_MS).map((group) => group.flatMap((at) => parts[at] ?? []));
}

function partOf(crowd: readonly SubtitleLine[]): SpokenPart {
  return {
    indexes: crowd.map(({ index }) => index),
    text: joinSpaced(crowd.map(({ text }) => spokenText(text))),
    startMs: crowd[0]?.start_ms ?? 0,
    endMs: Math.max(...crowd.map(({ end_ms }) => end_ms)),
  };
}

/** Nobody notices that speech begins this much before its cue, in milliseconds. */
const EARLY_MS = 300;

/**
 * How much earlier than its cue a text may begin, in milliseconds: not while the cue before it is shown.
 * @param before the end of all cues that begin earlier; 0 for none
 */
export function mostEarlyMs(startMs: number, before: number): number {
  return Math.max(0, Math.min(EARLY_MS, startMs - before));
}
