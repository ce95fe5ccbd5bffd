/** The lines of a subtitle track in a video: pure. */
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { stripMarkup } from '../text/markup.ts';

/** Lines as players show them, up to the end of the video: one that is shown longer makes the whole file longer. */
export function softLines(lines: readonly SubtitleLine[], videoSeconds: number): SubtitleLine[] {
  const endMs = Math.floor(videoSeconds * 1000);
  return lines
    .filter(({ start_ms }) => start_ms < endMs)
    .map((line) => ({ ...line, end_ms: Math.min(line.end_ms, endMs), text: stripMarkup(line.text) }));
}
