/** Joins the subtitles of parts on the time line of the whole: pure. */
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';

/** Two halves of one cue end and begin this near to the seam, in milliseconds: two frames of film. */
const AT_SEAM_MS = 84;

/**
 * Moves each part to its offset and numbers all cues from 1. A cue that reaches beyond the seam ends there; two halves of one
 * cue, with the same text on both sides of a seam, become one.
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
      // A part's last cue may be rounded up over the seam; one that begins behind it is the service's own doing and stays.
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
