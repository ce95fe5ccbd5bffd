import stringWidth from 'string-width';

/**
 * The beginning and the end of a text that fits, `…` between them: a name keeps its ending and its language.
 * @param width in cells of the screen, at least 1
 */
export function shortenMiddle(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  const characters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
  const room = width - 1;
  const end = takeCells(characters.toReversed(), Math.floor(room / 2)).reverse();
  const begin = takeCells(characters, room - stringWidth(end.join('')));
  return `${begin.join('')}…${end.join('')}`;
}

function takeCells(characters: readonly string[], cells: number): string[] {
  const taken: string[] = [];
  let left = cells;
  for (const character of characters) {
    left -= stringWidth(character);
    if (left < 0) break;
    taken.push(character);
  }
  return taken;
}
