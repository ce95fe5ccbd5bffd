/** Joins the subtitles of the parts, from files or from videos, on the time line of the whole video. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatSrt, parseSrt } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { SubtitleTrackFacts, VideoFacts } from '../probe/facts.ts';
import { foreignInput } from '../probe/source.ts';
import { DECODER_LIMITS, QUIET } from '../programs/arguments.ts';
import type { Programs } from '../programs/programs.ts';
import { partOffsetsMs, type VideoSplit } from '../split/split-video.ts';
import { MOST_CUES } from '../subtitles/bounds.ts';
import type { Work } from '../work.ts';

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
  for (const [at, { path }] of results.entries())
    parts.push(await readTrack(programs, path, tracks[at], work));
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

async function readTrack(
  programs: Programs,
  path: string,
  track: SubtitleTrackFacts | undefined,
  work: Work,
): Promise<SubtitleLine[]> {
  if (track === undefined) return [];
  const output = ['-map', `0:${track.index}`, '-c:s', 'srt', '-f', 'srt', 'pipe:1'];
  const args = [...QUIET, ...foreignInput(path), ...output];
  const srt = (await programs.run('ffmpeg', args, { ...work, limits: DECODER_LIMITS })).toString('utf8');
  return srt.trim() === '' ? [] : parseSrt(srt, MOST_CUES);
}
