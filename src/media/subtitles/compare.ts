/** Compares two subtitles cue by cue, describes the changes, and computes what a format keeps: ASS has no markup. */

import { formatTime } from '../../protocol/srt.ts';
import type { SubtitleFormat, SubtitleLine } from '../../protocol/subtitle-line.ts';
import { PreparationFailure } from '../programs/failures.ts';
import { readSubtitleFile } from './read-subtitle.ts';
import { writeSubtitle } from './write.ts';

type CueChange =
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
 * Pairs cues whose overlap is more than half of the shorter one. All other cues are added or removed.
 * @param before in order of time, like `after`
 */
export function compareSubtitles(
  before: readonly SubtitleLine[],
  after: readonly SubtitleLine[],
): Comparison {
  const changes: CueChange[] = [];
  let same = 0;
  let old = 0;
  let now = 0;
  while (old < before.length || now < after.length) {
    const left = before[old];
    const right = after[now];
    if (left !== undefined && right !== undefined && areOne(left, right)) {
      const change = changeOf(left, right);
      if (change === null) same += 1;
      else changes.push(change);
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
  return { same, changes };
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
