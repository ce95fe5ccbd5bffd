/** Writes a translation into the file that it was made of, so that everything but the words stays. Pure. */
import { normalizeCueText } from '../../protocol/srt.ts';
import type { SubtitleFormat, SubtitleLine } from '../../protocol/subtitle-line.ts';
import { CUE_TEXT } from './cue-text.ts';
import { editCues } from './edit-cues.ts';
import { cuesWithWords, type ReadFile } from './read.ts';

/**
 * Returns the text of the file with other words. What surrounds the words of a cue stays, and a cue that was not translated
 * has none. Null if a translated line has no cue in the file: services may join lines, and rolling captions are no cues.
 * @param translated of `wordLines`
 */
export function writeLike(file: ReadFile, translated: readonly SubtitleLine[]): string | null {
  const cues = cuesWithWords(file);
  const byStart = new Map(translated.map((line) => [line.start_ms, line]));
  const isWhole = translated.length === cues.length;
  const found = cues.map(({ line }, at) => (isWhole ? translated[at] : byStart.get(line.start_ms)));
  if (new Set(found).size - Number(found.includes(undefined)) < translated.length) return null;
  const edits = cues.flatMap(({ cue }, at) => {
    if (cue === null) return [];
    const { start_ms, end_ms } = cue;
    const words = normalizeCueText(found[at]?.text ?? '');
    return [{ cue, start_ms, end_ms, written: replaceWords(cue.written, words, file.format) }];
  });
  return edits.length < cues.length ? null : editCues(file.text, edits);
}

/** Each row keeps what surrounds it if all rows have something, as those of two speakers do. */
function replaceWords(written: string, words: string, format: SubtitleFormat): string {
  const { surround, encode } = CUE_TEXT[format];
  const put = (from: string, text: string) => {
    const { before, after } = surround(from);
    return before + encode(text) + after;
  };
  const rows = written.split('\n');
  const texts = words.split('\n');
  const isByRow =
    rows.length > 1 && rows.length === texts.length && rows.every((row) => surround(row).before !== '');
  if (!isByRow) return put(written, words);
  return rows.map((row, at) => put(row, texts[at] ?? '')).join('\n');
}
