/** Computes which data of subtitles a format keeps: ASS has no milliseconds and no markup. */
import type { SubtitleFormat, SubtitleLine } from '../../protocol/subtitle-line.ts';
import { PreparationFailure } from '../failure.ts';
import { readSubtitleFile } from './read.ts';
import { writeSubtitle } from './write.ts';

/** Returns the lines after writing and reading them in a format; unchanged if they cannot be read back. */
export async function readBack(
  lines: readonly SubtitleLine[],
  format: SubtitleFormat,
): Promise<readonly SubtitleLine[]> {
  try {
    return await readSubtitleFile(Buffer.from(writeSubtitle(lines, format)), `left.${format}`);
  } catch (error) {
    if (error instanceof PreparationFailure) return lines;
    throw error;
  }
}
