/** Splits a subtitle with more lines than the service accepts, at gaps between cues. */
import { LIMITS } from '../../protocol/limits.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';

export interface SubtitlePart {
  /** Numbered from 1, with times relative to the start of the part. */
  readonly lines: readonly SubtitleLine[];
  /** Where the part begins in the whole subtitle; pass it to `joinSubtitles`. */
  readonly offsetMs: number;
}

/** A part may be this share longer or shorter than an equal one, to end at a longer gap. */
const ROOM = 0.05;

/**
 * Returns parts of similar length within the limit, split at the longest gap near each equal point. Cues are never cut.
 * @param lines in order of time
 */
export function splitSubtitle(
  lines: readonly SubtitleLine[],
  mostLines: number = LIMITS.subtitleLines,
): SubtitlePart[] {
  const count = Math.ceil(lines.length / mostLines);
  if (count <= 1) return [{ lines, offsetMs: 0 }];
  const borders = [0];
  for (let left = count; left > 1; left -= 1) {
    const first = borders.at(-1) ?? 0;
    const rest = lines.length - first;
    const equal = Math.round(rest / left);
    const room = Math.floor(equal * ROOM);
    // The remaining lines must fit into the remaining parts.
    const from = Math.max(1, equal - room, rest - (left - 1) * mostLines);
    const to = Math.min(mostLines, equal + room);
    borders.push(longestGap(lines, first + from, first + Math.max(from, to), first + equal));
  }
  return borders.map((first, index) => cutOut(lines, first, borders[index + 1] ?? lines.length));
}

/**
 * Returns the line from `from` to `to` with the longest gap before it. If gaps are equal, the one nearest to `equal`.
 */
function longestGap(lines: readonly SubtitleLine[], from: number, to: number, equal: number): number {
  const gap = (at: number) => (lines[at]?.start_ms ?? 0) - (lines[at - 1]?.end_ms ?? 0);
  let best = from;
  for (let at = from + 1; at <= to; at += 1) {
    const difference = gap(at) - gap(best);
    const isNearer = Math.abs(at - equal) < Math.abs(best - equal);
    if (difference > 0 || (difference === 0 && isNearer)) best = at;
  }
  return best;
}

function cutOut(lines: readonly SubtitleLine[], first: number, next: number): SubtitlePart {
  const part = lines.slice(first, next);
  const start = part[0]?.start_ms ?? 0;
  const before = lines[first - 1]?.end_ms ?? 0;
  // The middle of the gap. Overlapping cues have no gap, so the part begins with its first cue.
  const offsetMs = first === 0 ? 0 : Math.min(start, Math.round((Math.max(before, 0) + start) / 2));
  return {
    offsetMs,
    lines: part.map((line, position) => ({
      ...line,
      index: position + 1,
      start_ms: line.start_ms - offsetMs,
      end_ms: line.end_ms - offsetMs,
    })),
  };
}
