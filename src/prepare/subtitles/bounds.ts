/** Limits on subtitle files, which keep hostile text from costing the parsers too much time. */
import { LIMITS } from '../../protocol/limits.ts';
import { SubtitleError } from '../../protocol/srt.ts';

export const MOST_CUES = 10 * LIMITS.subtitleLines;

/** More than 10 MiB of real cues have: the shortest take four rows for 30 bytes. */
const MOST_ROWS = 500_000;
/** Longer rows are not readable text, and some patterns of the parsers take quadratic time on them. */
const LONGEST_ROW = 20_000;

/** Decodes UTF-8 strictly, or UTF-16 with its byte order mark, as editors on Windows save. */
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

/** Patterns of the parsers take quadratic time on long runs of spaces; one is as good as many. */
const LONG_SPACE = /[^\S\n]{16,}/g;

/**
 * The same text with `\n` between rows and runs of blank rows as one: millions of line breaks took a parser ten seconds.
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
