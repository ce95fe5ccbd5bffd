/** Writes words into a file so that everything else stays: a translation into its source, edits into their file. Pure. */

import { findMissingCues, pairCues } from '../../protocol/pair-cues.ts';
import { normalizeCueText } from '../../protocol/srt.ts';
import type { SubtitleFormat, SubtitleLine } from '../../protocol/subtitle-line.ts';
import { CUE_TEXT, splitParts } from './cue-text.ts';
import { type CueEdit, editCues } from './edit-cues.ts';
import { cuesWithWords, type ReadFile, type ScannedText, scanCues, textInside } from './read-subtitle.ts';

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

/**
 * Returns the text of a file with other words in some cues, and their numbers. What surrounds the words stays, and so does every
 * other byte; a cue that has these words already does not change.
 * @param words by number of the cue, as `textInside` returns them
 * @returns the number of a cue whose words would not be read back as one cue
 */
export function replaceCueWords(
  { text, format, cues, faults }: ScannedText,
  words: ReadonlyMap<number, string>,
): { readonly text: string; readonly changed: readonly number[] } | { readonly unfit: number } {
  const edits = cues.flatMap(({ tightRow: _, ...cue }): CueEdit[] => {
    const wanted = words.get(cue.number);
    if (wanted === undefined || wanted === textInside(cue, format)) return [];
    const written = replaceWords(cue.written, normalizeCueText(wanted), format);
    return written === cue.written ? [] : [{ cue, written, start_ms: cue.start_ms, end_ms: cue.end_ms }];
  });
  const isReadBack = (some: readonly CueEdit[]) => {
    const edited = new Set(some.map(({ cue }) => cue.number));
    const found = scanCues(editCues(text, some), format);
    return (
      found.cues.length === cues.length &&
      found.faults.length === faults.length &&
      found.cues.every((cue, at) => {
        const before = cues[at];
        const isInPlace = cue.start_ms === before?.start_ms && cue.end_ms === before.end_ms;
        return isInPlace && (edited.has(cue.number) ? cue.text !== '' : cue.written === before.written);
      })
    );
  };
  if (!isReadBack(edits)) {
    const [first] = edits;
    const unfit = edits.find((edit) => !isReadBack([edit])) ?? first;
    if (unfit !== undefined) return { unfit: unfit.cue.number };
  }
  return { text: editCues(text, edits), changed: edits.map(({ cue }) => cue.number) };
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
