/** Compares two subtitles cue by cue, describes the changes, and computes what a format keeps: ASS has no markup. */

import { formatTime } from '../../protocol/srt.ts';
import type { SubtitleFormat, SubtitleLine } from '../../protocol/subtitle-line.ts';
import { PreparationFailure } from '../programs/failures.ts';
import { readSubtitleFile } from './read-subtitle.ts';
import { writeSubtitle } from './write.ts';

export type CueChange =
  | { readonly type: 'added'; readonly after: SubtitleLine }
  | { readonly type: 'removed'; readonly before: SubtitleLine }
  | {
      readonly type: 'changed';
      readonly before: SubtitleLine;
      readonly after: SubtitleLine;
      readonly text: boolean;
      /** How far start and end moved, in milliseconds; positive means later. */
      readonly startMoved: number;
      readonly endMoved: number;
    };

export interface Comparison {
  readonly same: number;
  /** In order of time. */
  readonly changes: readonly CueChange[];
}

/**
 * Pairs cues with the same text, wherever their times are, and others whose overlap is more than half of the shorter one. All
 * other cues are added or removed.
 * @param before in order of time, like `after`
 */
export function compareSubtitles(
  before: readonly SubtitleLine[],
  after: readonly SubtitleLine[],
): Comparison {
  const changes: CueChange[] = [];
  let same = 0;
  let [old, now] = [0, 0];
  const pair = (left: SubtitleLine, right: SubtitleLine) => {
    const change = changeOf(left, right);
    if (change === null) same += 1;
    else changes.push(change);
  };
  /** The cues before those that have the same text. */
  const walkTo = (oldEnd: number, nowEnd: number) => {
    const [lefts, rights] = [before.slice(old, oldEnd), after.slice(now, nowEnd)];
    const isShifted =
      lefts.length === rights.length && lefts.every(({ text }, at) => rights[at]?.text === text);
    while (old < oldEnd || now < nowEnd) {
      const left = old < oldEnd ? before[old] : undefined;
      const right = now < nowEnd ? after[now] : undefined;
      if (left !== undefined && right !== undefined && (isShifted || areOne(left, right))) {
        pair(left, right);
        old += 1;
        now += 1;
      } else if (right === undefined || (left !== undefined && middle(left) <= middle(right))) {
        if (left !== undefined) changes.push({ type: 'removed', before: left });
        old += 1;
      } else {
        changes.push({ type: 'added', after: right });
        now += 1;
      }
    }
  };
  for (const [left, right] of pairTexts(before, after)) {
    walkTo(left, right);
    walkTo(left + 1, right + 1);
  }
  walkTo(before.length, after.length);
  return { same, changes };
}

/** Indexes of the cues whose text each side has once, as many as are in the same order on both. */
function pairTexts(
  before: readonly SubtitleLine[],
  after: readonly SubtitleLine[],
): readonly (readonly [left: number, right: number])[] {
  const places = placesOfTexts(after);
  /** The last pair of the best chain of each length. */
  const ends: TextPair[] = [];
  for (const [text, left] of placesOfTexts(before)) {
    const right = places.get(text);
    if (right === undefined) continue;
    const length = ends.findLastIndex((end) => end.right < right) + 1;
    ends[length] = { left, right, previous: ends[length - 1] ?? null };
  }
  const pairs: [number, number][] = [];
  for (let end = ends.at(-1) ?? null; end !== null; end = end.previous) pairs.push([end.left, end.right]);
  return pairs.reverse();
}

interface TextPair {
  readonly left: number;
  readonly right: number;
  readonly previous: TextPair | null;
}

/** The index of each text that occurs once. */
function placesOfTexts(lines: readonly SubtitleLine[]): ReadonlyMap<string, number> {
  const groups = Map.groupBy(lines.keys(), (at) => lines[at]?.text ?? '');
  return new Map([...groups].flatMap(([text, [at = 0, ...more]]) => (more.length > 0 ? [] : [[text, at]])));
}

const middle = (line: SubtitleLine) => (line.start_ms + line.end_ms) / 2;

function areOne(left: SubtitleLine, right: SubtitleLine): boolean {
  const shared = Math.min(left.end_ms, right.end_ms) - Math.max(left.start_ms, right.start_ms);
  const shorter = Math.min(left.end_ms - left.start_ms, right.end_ms - right.start_ms);
  return shared * 2 > shorter;
}

function changeOf(before: SubtitleLine, after: SubtitleLine): CueChange | null {
  const text = before.text !== after.text;
  const startMoved = after.start_ms - before.start_ms;
  const endMoved = after.end_ms - before.end_ms;
  if (!text && startMoved === 0 && endMoved === 0) return null;
  return { type: 'changed', before, after, text, startMoved, endMoved };
}

/** Returns rows as in a diff: `-` for the old text, `+` for the new text. Texts are untrusted. */
export function describeChange(change: CueChange): string[] {
  if (change.type === 'added') return [`${head(change.after)} added`, `+ ${oneRow(change.after)}`];
  if (change.type === 'removed') return [`${head(change.before)} removed`, `- ${oneRow(change.before)}`];
  const moved = [
    ...(change.startMoved === 0 ? [] : [`begins ${shift(change.startMoved)}`]),
    ...(change.endMoved === 0 ? [] : [`ends ${shift(change.endMoved)}`]),
  ];
  const what = [...(change.text ? ['text'] : []), ...moved].join(', ');
  const texts = change.text ? [`- ${oneRow(change.before)}`, `+ ${oneRow(change.after)}`] : [];
  return [`${head(change.before)} ${what}`, ...texts];
}

function head(line: SubtitleLine): string {
  return `${formatTime(line.start_ms)} cue ${line.index}`;
}

function shift(milliseconds: number): string {
  return `${Math.abs(milliseconds)} ms ${milliseconds > 0 ? 'later' : 'earlier'}`;
}

function oneRow(line: SubtitleLine): string {
  return line.text.replaceAll('\n', ' / ');
}

/** Returns the lines after writing and reading them in a format; unchanged if they cannot be read back. */
export function readBack(lines: readonly SubtitleLine[], format: SubtitleFormat): readonly SubtitleLine[] {
  try {
    return readSubtitleFile(Buffer.from(writeSubtitle(lines, format)), `left.${format}`);
  } catch (error) {
    if (error instanceof PreparationFailure) return lines;
    throw error;
  }
}
