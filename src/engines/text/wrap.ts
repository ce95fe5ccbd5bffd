/** Text in rows as subtitles are shown. */

/** What fits into a row on any screen; the limit of most broadcasters. */
export const ROW_CHARACTERS = 42;

/**
 * Sets text in as few rows of at most 42 characters as it needs, about evenly long. A word longer than a row stays whole,
 * and text without spaces (Chinese, Thai) in one row.
 */
export function wrapText(text: string): string {
  const words = text.split(/\s+/).filter((word) => word !== '');
  const whole = words.join(' ');
  const rows = Math.ceil(whole.length / ROW_CHARACTERS);
  if (rows <= 1) return whole;
  // The narrowest width that needs no more rows than the widest gives the most even ones.
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
