/** What a format keeps of subtitles: ASS has no thousandths of a second and no markup. */
import type { SubtitleFormat } from '../../protocol/subtitle-formats.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { PreparationFailure } from '../failure.ts';
import { readSubtitleFile } from './read.ts';
import { writeSubtitle } from './write.ts';

/** The lines as they are read out of a file that they were written to; the same ones where nothing can be read back. */
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
