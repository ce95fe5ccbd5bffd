/** Reads subtitles that are stored in a video as a separate track. */

import { parseSrt, SubtitleError } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { DECODER_LIMITS, QUIET, untrustedInput } from '../programs/arguments.ts';
import { ChildFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun } from '../work.ts';

/**
 * Returns the lines of the first subtitle track; none if the video has no track or the track is not text.
 * @throws ProgramMissing
 */
export async function readSoftSubtitles(
  programs: Programs,
  video: string,
  run: EngineRun,
): Promise<SubtitleLine[]> {
  const args = [...QUIET, ...untrustedInput(video), '-map', '0:s:0', '-f', 'srt', 'pipe:1'];
  try {
    const srt = await programs.run('ffmpeg', args, { ...run, limits: DECODER_LIMITS });
    return parseSrt(srt.toString('utf8'));
  } catch (error) {
    if (error instanceof ChildFailure || error instanceof SubtitleError) return [];
    throw error;
  }
}
