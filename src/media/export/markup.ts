/** Tags of SRT that change how burned text looks, as override tags of ASS. */
import { stripMarkup } from '../subtitles/text.ts';

const TAG = /<(\/?)(b|i|u|s|strong|em|font)(?=[\s>])([^<>]{0,200})>/gi;
const COLOUR = /\bcolor\s{0,8}=\s{0,8}["']?(#[0-9a-f]{6}|[a-z]{3,20})/i;

/** Names of the first version of HTML, which players accept. Source: HTML 4.01, "Colors". */
const NAMED: Readonly<Record<string, string>> = {
  ...{ black: '000000', silver: 'C0C0C0', gray: '808080', white: 'FFFFFF', maroon: '800000', red: 'FF0000' },
  ...{ purple: '800080', fuchsia: 'FF00FF', magenta: 'FF00FF', green: '008000', lime: '00FF00' },
  ...{ olive: '808000', yellow: 'FFFF00', navy: '000080', blue: '0000FF', teal: '008080', aqua: '00FFFF' },
  ...{ cyan: '00FFFF', orange: 'FFA500' },
};
const SWITCHES: Readonly<Record<string, string>> = { b: 'b', strong: 'b', i: 'i', em: 'i', u: 'u', s: 's' };

/**
 * Adds the override tags of a cue's tags to its rows. Wrapping changes only spaces, so the other characters of the rows
 * and of the cue correspond.
 * @param rows of the text without its tags, escaped for ASS: each character is one character
 * @param white the brightness of white, 0 to 255: colours are darkened in the same way
 */
export function styleRows(rows: readonly string[], text: string, white: number): string[] {
  const styles = stylesOf(text, white);
  const solid = rows.join('').replace(/\s/g, '').length;
  if (styles.length !== solid || styles.every((style) => style === '')) return [...rows];
  let at = 0;
  let current = '';
  return rows.map((row) =>
    row.replace(/\S/g, (character) => {
      const style = styles[at] ?? '';
      at += 1;
      if (style === current) return character;
      current = style;
      return `{\\b0\\i0\\u0\\s0\\c${style}}${character}`;
    }),
  );
}

/** Returns the override tags for each character that is not a space; empty for none. */
function stylesOf(text: string, white: number): string[] {
  const styles: string[] = [];
  const depths = new Map<string, number>();
  const colours: string[] = [];
  let from = 0;
  const add = (part: string) => {
    const switches = [...depths].filter(([, depth]) => depth > 0).map(([name]) => `\\${name}1`);
    const style = switches.join('') + (colours.at(-1) ?? '');
    styles.push(...Array.from({ length: stripMarkup(part).replace(/\s/g, '').length }, () => style));
  };
  for (const { 0: tag, 1: slash, 2: name = '', 3: rest = '', index } of text.matchAll(TAG)) {
    add(text.slice(from, index));
    from = index + tag.length;
    const key = SWITCHES[name.toLowerCase()];
    if (key !== undefined) depths.set(key, Math.max(0, (depths.get(key) ?? 0) + (slash === '' ? 1 : -1)));
    else if (slash === '') colours.push(assColour(rest, white) ?? colours.at(-1) ?? '');
    else colours.pop();
  }
  add(text.slice(from));
  return styles;
}

/** Returns the override tag of a colour; null if there is none. ASS writes blue first. */
function assColour(attributes: string, white: number): string | null {
  const value = COLOUR.exec(attributes)?.[1]?.toLowerCase() ?? '';
  const hex = value.startsWith('#') ? value.slice(1) : NAMED[value];
  if (hex === undefined) return null;
  const parts = [hex.slice(4, 6), hex.slice(2, 4), hex.slice(0, 2)].map((part) =>
    Math.round((Number.parseInt(part, 16) * white) / 255)
      .toString(16)
      .padStart(2, '0'),
  );
  return `\\c&H${parts.join('').toUpperCase()}&`;
}
