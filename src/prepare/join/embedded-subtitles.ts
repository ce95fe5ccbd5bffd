/** The soft subtitles inside the parts of a video, joined. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Work } from '../../engines/engine.ts';
import { DECODER_LIMITS, QUIET } from '../../engines/media/arguments.ts';
import type { Programs } from '../../engines/programs.ts';
import { formatSrt, parseSrt } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { SubtitleFacts, VideoFacts } from '../media/facts.ts';
import { foreignInput } from '../media/source.ts';
import { partOffsetsMs, type VideoSplit } from '../split/split-video.ts';
import { MOST_CUES } from '../subtitles/limits.ts';
import { joinSubtitles } from './join-subtitles.ts';

export interface JoinedSubtitle {
  /** An SRT in the work folder. */
  readonly path: string;
  /** Three letters, or null when the parts say none. */
  readonly language: string | null;
}

/** Reads the first subtitle track of every part; null when no part has one or none has a cue. */
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

/** MP4 has one form of text; pictures of subtitles cannot be joined. */
function textTrack(facts: VideoFacts): SubtitleFacts | undefined {
  return facts.subtitles.find(({ codec }) => codec === 'mov_text');
}

async function readTrack(
  programs: Programs,
  path: string,
  track: SubtitleFacts | undefined,
  work: Work,
): Promise<SubtitleLine[]> {
  if (track === undefined) return [];
  const output = ['-map', `0:${track.index}`, '-c:s', 'srt', '-f', 'srt', 'pipe:1'];
  const args = [...QUIET, ...foreignInput(path), ...output];
  const srt = (await programs.run('ffmpeg', args, { ...work, limits: DECODER_LIMITS })).toString('utf8');
  return srt.trim() === '' ? [] : parseSrt(srt, MOST_CUES);
}
