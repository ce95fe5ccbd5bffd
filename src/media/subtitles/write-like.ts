/** Writes a translation into the file that it was made of, so that everything but the words stays. Pure. */

import { findMissingCues, pairCues } from '../../protocol/pair-cues.ts';
import { normalizeCueText } from '../../protocol/srt.ts';
import type { SubtitleFormat, SubtitleLine } from '../../protocol/subtitle-line.ts';
import { CUE_TEXT, splitParts } from './cue-text.ts';
import { editCues } from './edit-cues.ts';
import { cuesWithWords, type ReadFile } from './read-subtitle.ts';

/**
 * Returns the text of the file with other words. What surrounds the words of a cue stays, and a cue that was not translated
 * has none. Null if a translated line has no cue of its own in the file: services may join lines, and rolling captions are no cues.
 * @param translated of `wordLines`
 */
export function writeLike(file: ReadFile, translated: readonly SubtitleLine[]): string | null {
  const cues = cuesWithWords(file);
  const lines = cues.map(({ line }) => line);
  const found = pairCues(lines, translated);
  const missing = new Set(findMissingCues(lines, translated));
  const isJoined = lines.some((line, at) => found[at] === null && !missing.has(line));
  if (isJoined || found.filter((line) => line !== null).length < translated.length) return null;
  const edits = cues.flatMap(({ cue }, at) => {
    if (cue === null) return [];
    const { start_ms, end_ms } = cue;
    const words = normalizeCueText(found[at]?.text ?? '');
    return [{ cue, start_ms, end_ms, written: replaceWords(cue.written, words, file.format) }];
  });
  return edits.length < cues.length ? null : editCues(file.text, edits);
}

/** Each part keeps what surrounds it. If there are more or fewer rows, only what surrounds all parts stays. */
function replaceWords(written: string, words: string, format: SubtitleFormat): string {
  const { surround, encode } = CUE_TEXT[format];
  const parts = splitParts(written, format);
  const [first = surround(written)] = parts;
  const rows = words.split('\n');
  if (parts.length > 1 && parts.length === rows.length)
    return parts.map(({ before, after }, at) => before + encode(rows[at] ?? '') + after).join('\n');
  const isAlike = parts.every(({ before, after }) => before === first.before && after === first.after);
  const { before, after } = isAlike ? first : surround(written);
  return before + encode(words) + after;
}
