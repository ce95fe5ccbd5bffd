/** Limits on subtitle files, so that hostile text cannot cost the parsers too much time. */
import { LIMITS } from '../../protocol/limits.ts';
import { SubtitleError } from '../../protocol/srt.ts';

export const MOST_CUES = 10 * LIMITS.subtitleLines;

/** More rows than 10 MiB of real cues contain: the shortest cues take four rows for 30 bytes. */
const MOST_ROWS = 500_000;
/** Longer rows are not readable text, and some patterns of the parsers take quadratic time on them. */
const LONGEST_ROW = 20_000;

/** Decodes strict UTF-8, or UTF-16 with a byte order mark, which Windows editors write. */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const is16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const encoding = is16 ? (first === 0xff ? 'utf-16le' : 'utf-16be') : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new SubtitleError('the file is not UTF-8; save it as UTF-8 and try again', 0);
  }
}

/** Some patterns of the parsers take quadratic time on long runs of spaces. A run is replaced by one space. */
const LONG_SPACE = /[^\S\n]{16,}/g;

/**
 * Returns the text with `\n` as line break and at most one blank row in sequence: a parser needed ten seconds for
 * millions of line breaks.
 * @throws SubtitleError for too many or too long rows
 */
export function boundRows(text: string): string {
  const rows: string[] = [];
  let number = 0;
  for (const row of text.split(/\r\n|\r|\n/)) {
    number += 1;
    if (row.length > LONGEST_ROW) {
      throw new SubtitleError(`the row has ${row.length} characters, more than ${LONGEST_ROW}`, number);
    }
    const isBlank = row.trim() === '';
    if (isBlank && rows.at(-1) === '') continue;
    rows.push(isBlank ? '' : row.replace(LONG_SPACE, ' '));
    if (rows.length > MOST_ROWS) throw new SubtitleError(`more than ${MOST_ROWS} rows`, number);
  }
  return rows.join('\n');
}
