/** Wraps subtitle text into rows, also text without spaces between words. */
import { SPACELESS } from './text.ts';

/** Fits on one row of any screen. The limit of most broadcasters; East Asian characters count twice. */
export const ROW_COLUMNS = 42;

/** Marks and invisible characters take no column. */
const NO_COLUMN = /[\p{Mn}\p{Me}\p{Cf}]/gu;
const TWO_COLUMNS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303F\uFF01-\uFF60\uFFE0-\uFFE6]/gu;

/** Returns how many columns a text takes in a font whose East Asian characters are twice as wide as others. */
export function countColumns(text: string): number {
  const shown = text.replace(NO_COLUMN, '');
  return [...shown].length + (shown.match(TWO_COLUMNS)?.length ?? 0);
}

/**
 * Wraps text into as few rows as possible, of similar length.
 * @param longWords `split` also splits words that are longer than a row, such as addresses
 * @param most columns of a row
 */
export function wrapText(
  text: string,
  longWords: 'keep' | 'split' = 'keep',
  most: number = ROW_COLUMNS,
): string {
  const pieces = text
    .split(/\s+/)
    .filter((word) => word !== '')
    .flatMap((word) => splitWord(word, longWords, most));
  const whole = fillRows(pieces, Number.POSITIVE_INFINITY).join('');
  const columns = countColumns(whole);
  if (columns <= most) return whole;
  // The narrowest width with the same number of rows gives the most even rows.
  let best = fillRows(pieces, most);
  for (let width = Math.ceil(columns / best.length); width < most; width += 1) {
    const candidate = fillRows(pieces, width);
    if (candidate.length > best.length) continue;
    best = candidate;
    break;
  }
  return best.join('\n');
}

/** A part of the text that stays on one row. */
interface Piece {
  readonly text: string;
  readonly columns: number;
  /** Whether a space separates it from the piece before, if they are on one row. */
  readonly spaced: boolean;
}

/** Closing punctuation, and marks that repeat or lengthen what is before them, do not begin a row. */
const NEVER_FIRST = /^[\p{Pe}\p{Pf}\p{Po}\p{Lm}\p{M}]/u;
/** Opening brackets and quotes do not end a row. */
const NEVER_LAST = /[\p{Ps}\p{Pi}]$/u;

function splitWord(word: string, longWords: 'keep' | 'split', most: number): Piece[] {
  const isUnspaced = SPACELESS.test(word);
  const parts = isUnspaced ? splitUnspaced(word) : [word];
  return parts
    .flatMap((part) => (isUnspaced || longWords === 'split' ? splitLong(part, most) : [part]))
    .map((text, position) => ({ text, columns: countColumns(text), spaced: position === 0 }));
}

let words: Intl.Segmenter | null = null;
let characters: Intl.Segmenter | null = null;

/** Splits text of scripts without spaces at the words of a dictionary, and keeps punctuation where it belongs. */
function splitUnspaced(text: string): string[] {
  words ??= new Intl.Segmenter('und', { granularity: 'word' });
  const parts: string[] = [];
  for (const { segment } of words.segment(text)) {
    const before = parts.at(-1);
    const mayBreak =
      before !== undefined &&
      !NEVER_FIRST.test(segment) &&
      !NEVER_LAST.test(before) &&
      (SPACELESS.test(segment) || SPACELESS.test(before));
    if (before === undefined || mayBreak) parts.push(segment);
    else parts[parts.length - 1] = before + segment;
  }
  return parts;
}

function splitLong(text: string, most: number): string[] {
  if (countColumns(text) <= most) return [text];
  characters ??= new Intl.Segmenter('und', { granularity: 'grapheme' });
  const parts = [''];
  for (const { segment } of characters.segment(text)) {
    const part = (parts.at(-1) ?? '') + segment;
    if (countColumns(part) <= most) parts[parts.length - 1] = part;
    else parts.push(segment);
  }
  return parts;
}

function fillRows(pieces: readonly Piece[], width: number): string[] {
  const rows: string[] = [];
  let row = '';
  let columns = 0;
  for (const piece of pieces) {
    const space = row !== '' && piece.spaced ? ' ' : '';
    const wider = columns + space.length + piece.columns;
    if (row !== '' && wider > width) {
      rows.push(row);
      row = piece.text;
      columns = piece.columns;
    } else {
      row += space + piece.text;
      columns = wider;
    }
  }
  return row === '' ? rows : [...rows, row];
}
