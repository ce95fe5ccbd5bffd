/** Reads subtitles that a job has made. */
import { readFile } from 'node:fs/promises';
import { normalizeCueText } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';

/**
 * The cues that have text, numbered from 1: none of an empty file. A service may write what no input may have, so nothing else is
 * checked.
 * @throws SubtitleError for a file that is not text; an error of the file system
 */
export async function readResultLines(path: string): Promise<readonly SubtitleLine[]> {
  const { scanText } = await import('../../media/subtitles/read-subtitle.ts');
  return scanText(await readFile(path), path)
    .cues.map(({ start_ms, end_ms, text }) => ({ start_ms, end_ms, text: normalizeCueText(text) }))
    .filter(({ start_ms, end_ms, text }) => text !== '' && end_ms > start_ms)
    .map((line, at) => ({ index: at + 1, ...line }));
}
