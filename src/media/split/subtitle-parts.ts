/** Splits a subtitle with more lines than the service accepts, and joins the subtitles of parts on one time line. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LIMITS } from '../../protocol/limits.ts';
import { formatSrt } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { SubtitleTrackFacts, VideoFacts } from '../probe/facts.ts';
import type { Programs } from '../programs/programs.ts';
import { readSubtitleTrack } from '../subtitles/read-subtitle.ts';
import type { Work } from '../work.ts';
import { partOffsetsMs, type VideoSplit } from './split-video.ts';

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

/** Two halves of one cue end and begin at most this far from the seam, in milliseconds: two frames of film. */
const AT_SEAM_MS = 84;

/**
 * Moves each part to its offset and numbers all cues from 1. A cue that crosses a seam ends at the seam. Two halves of
 * one cue, with the same text on both sides of a seam, become one cue.
 * @param offsetsMs where each part begins in the whole
 */
export function joinSubtitles(
  parts: readonly (readonly SubtitleLine[])[],
  offsetsMs: readonly number[],
): SubtitleLine[] {
  const joined: SubtitleLine[] = [];
  for (const [index, lines] of parts.entries()) {
    const offset = Math.round(offsetsMs[index] ?? 0);
    const next = Math.round(offsetsMs[index + 1] ?? Number.POSITIVE_INFINITY);
    for (const [position, line] of lines.entries()) {
      const start = line.start_ms + offset;
      // The end of a part's last cue may be rounded up past the seam. A cue that begins after the seam comes from the
      // service and stays unchanged.
      const end = start < next ? Math.min(line.end_ms + offset, next) : line.end_ms + offset;
      const before = joined.at(-1);
      if (
        position === 0 &&
        before !== undefined &&
        isOtherHalf(before, { ...line, start_ms: start }, offset)
      ) {
        joined[joined.length - 1] = { ...before, end_ms: end };
      } else {
        joined.push({ index: joined.length + 1, start_ms: start, end_ms: end, text: line.text });
      }
    }
  }
  return joined;
}

function isOtherHalf(before: SubtitleLine, behind: SubtitleLine, seam: number): boolean {
  const meet = seam - before.end_ms <= AT_SEAM_MS && behind.start_ms - seam <= AT_SEAM_MS;
  return meet && before.text === behind.text;
}

export interface JoinedSubtitle {
  /** Path of an SRT file in the work folder. */
  readonly path: string;
  /** Three-letter code; null if the parts declare none. */
  readonly language: string | null;
}

/** Reads the first subtitle track of every part. Returns null if no part has a track, or if no track has a cue. */
export async function collectSubtitles(
  programs: Programs,
  results: readonly { readonly path: string; readonly facts: VideoFacts }[],
  split: VideoSplit,
  work: Work,
): Promise<JoinedSubtitle | null> {
  const tracks = results.map(({ facts }) => textTrack(facts));
  if (tracks.every((track) => track === undefined)) return null;
  const parts: SubtitleLine[][] = [];
  for (const [at, { path }] of results.entries()) {
    const track = tracks[at];
    parts.push(track === undefined ? [] : await readSubtitleTrack(programs, path, `0:${track.index}`, work));
  }
  const lines = joinSubtitles(parts, partOffsetsMs(split));
  if (lines.length === 0) return null;
  const path = join(work.folder, 'join.srt');
  await writeFile(path, formatSrt(lines));
  const first = tracks.find((track) => track !== undefined);
  return { path, language: first?.language ?? null };
}

/** MP4 has only one text format. Bitmap subtitles cannot be joined. */
function textTrack(facts: VideoFacts): SubtitleTrackFacts | undefined {
  return facts.subtitles.find(({ codec }) => codec === 'mov_text');
}
