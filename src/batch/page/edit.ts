/** Replaces the text of cues in an SRT file: every other byte stays. */
import { normalizeCueText, parseSrt, SubtitleError } from '../../protocol/srt.ts';
import type { CuePlace } from '../report/page-facts.ts';

export interface CueEdit {
  readonly place: CuePlace;
  readonly text: string;
}

/** @param text of the whole file, with its byte order mark and line breaks */
export function editCues(text: string, edits: readonly CueEdit[]): string {
  // Content and line break in turn.
  const parts = text.split(/(\r\n|\r|\n)/);
  const fromEnd = edits.toSorted((left, right) => right.place.row - left.place.row);
  for (const { place, text: written } of fromEnd) {
    const [times, before] = [2 * place.row - 2, 2 * place.row];
    const lineBreak = parts[times + 1] || '\n';
    const last = before + 2 * place.rows - 1;
    // The file may end with the times.
    const end = place.rows === 0 ? lineBreak : (parts[last] ?? '');
    if (times + 1 >= parts.length) parts.push(lineBreak);
    const rows = normalizeCueText(written).split('\n');
    const own = rows.flatMap((row, at) => [row, at < rows.length - 1 ? lineBreak : end]);
    parts.splice(before, 2 * place.rows, ...own);
  }
  return parts.join('');
}

/** Why a text cannot be the text of a cue, as a sentence; null if it can. */
export function findEditFault(text: string, edit: CueEdit): string | null {
  const wanted = normalizeCueText(edit.text);
  if (wanted === '') return 'Write a text: without one, the dub is silent here.';
  try {
    const [before, after] = [text, editCues(text, [edit])].map((each) =>
      parseSrt(each, Number.POSITIVE_INFINITY),
    );
    const others = after?.filter((line, at) => line.text !== before?.[at]?.text) ?? [];
    const isWhole =
      before?.length === after?.length &&
      others.every((line) => line.text === wanted) &&
      after?.every(({ start_ms }, at) => start_ms === before?.[at]?.start_ms) === true;
    return isWhole ? null : 'This text would be read as more than one cue.';
  } catch (error) {
    if (error instanceof SubtitleError) return `It cannot be saved: ${error.message}.`;
    throw error;
  }
}
