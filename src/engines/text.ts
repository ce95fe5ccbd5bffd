/** Processes subtitle text: removes markup of players, and wraps text into rows. */

/** Matches `<i>` and `</font>`. A `<` that does not start a tag stays. */
const TAG = /<\/?[a-z][^<>]{0,200}>/gi;
/** Override tags of the ASS format, which players accept in SRT: `{\an8}`. */
const OVERRIDE = /\{\\[^{}]{0,200}\}/g;
/** Control characters except the line break. espeak-ng interprets some of them as commands. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern must match them
const CONTROLS = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/g;
/** Characters that change the direction of the surrounding text, which can hide its real content. */
const BIDI_OVERRIDES = /[\u202A-\u202E\u2066-\u2069\u200B\uFEFF]/g;

/** Removes tags, override tags and control characters. Keeps line breaks. */
export function stripMarkup(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(TAG, '')
    .replace(OVERRIDE, '')
    .replace(CONTROLS, ' ')
    .replace(BIDI_OVERRIDES, '')
    .replace(/[^\S\n]+/g, ' ')
    .trim();
}

/** Returns whether there is anything to speak or translate: a letter or a digit. */
export function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** Fits on one row of any screen. The limit of most broadcasters. */
export const ROW_CHARACTERS = 42;

/**
 * Wraps text into as few rows of at most 42 characters as possible, of similar length. Longer words are not split, and
 * text without spaces (Chinese, Thai) stays in one row.
 */
export function wrapText(text: string): string {
  const words = text.split(/\s+/).filter((word) => word !== '');
  const whole = words.join(' ');
  const rows = Math.ceil(whole.length / ROW_CHARACTERS);
  if (rows <= 1) return whole;
  // The narrowest width with the same number of rows gives the most even rows.
  let best = fillRows(words, ROW_CHARACTERS);
  for (let width = Math.ceil(whole.length / best.length); width < ROW_CHARACTERS; width += 1) {
    const candidate = fillRows(words, width);
    if (candidate.length > best.length) continue;
    best = candidate;
    break;
  }
  return best.join('\n');
}

function fillRows(words: readonly string[], width: number): string[] {
  const rows: string[] = [];
  let row = '';
  for (const word of words) {
    if (row !== '' && row.length + 1 + word.length > width) {
      rows.push(row);
      row = word;
    } else {
      row = row === '' ? word : `${row} ${word}`;
    }
  }
  return row === '' ? rows : [...rows, row];
}
