/** The tags of SRT that change how text looks. Pure. */
import { PLAYER_TAG } from './text.ts';

export interface StyleTag {
  /** `other` changes nothing that every format can show. */
  readonly key: 'b' | 'i' | 'u' | 's' | 'font' | 'other';
  readonly isEnd: boolean;
  /** What follows the name. */
  readonly attributes: string;
  /** Where it is in the text. */
  readonly from: number;
  readonly to: number;
}

const KEYS: Readonly<Record<string, StyleTag['key']>> = {
  ...{ b: 'b', strong: 'b', i: 'i', em: 'i', u: 'u', s: 's', strike: 's', font: 'font' },
};
const TAGS = new RegExp(PLAYER_TAG, 'gi');

/** The tags of players in a text, in order. */
export function findTags(text: string): StyleTag[] {
  return [...text.matchAll(TAGS)].map(({ 0: tag, index }) => {
    const [, slash, name = '', attributes = ''] = /^<(\/?)([a-z]+)(.*)>$/is.exec(tag) ?? [];
    const key = KEYS[name.toLowerCase()] ?? 'other';
    return { key, isEnd: slash === '/', attributes, from: index, to: index + tag.length };
  });
}

const COLOUR = /\bcolor\s{0,8}=\s{0,8}["']?(#[0-9a-f]{6}|[a-z]{3,20})/i;

/** Names of the first version of HTML, which players accept. Source: HTML 4.01, "Colors". */
const NAMED: Readonly<Record<string, string>> = {
  ...{ black: '000000', silver: 'C0C0C0', gray: '808080', white: 'FFFFFF', maroon: '800000', red: 'FF0000' },
  ...{ purple: '800080', fuchsia: 'FF00FF', magenta: 'FF00FF', green: '008000', lime: '00FF00' },
  ...{ olive: '808000', yellow: 'FFFF00', navy: '000080', blue: '0000FF', teal: '008080', aqua: '00FFFF' },
  ...{ cyan: '00FFFF', orange: 'FFA500' },
};

/** The colour of `<font color="red">` as `FF0000`; null if there is none. */
export function colourOf(attributes: string): string | null {
  const value = COLOUR.exec(attributes)?.[1]?.toLowerCase() ?? '';
  return (value.startsWith('#') ? value.slice(1).toUpperCase() : NAMED[value]) ?? null;
}

/**
 * Returns the override tag of ASS for a colour.
 * @param white the brightness of white, 0 to 255: other colours are darkened like it
 */
export function assColour(colour: string, white = 255): string {
  return `\\c&H${assDigits(colour, white)}&`;
}

/** Returns the digits of a colour, `RRGGBB`, as ASS writes them: blue first. */
export function assDigits(colour: string, white: number): string {
  const parts = [colour.slice(4, 6), colour.slice(2, 4), colour.slice(0, 2)].map((part) =>
    Math.round((Number.parseInt(part, 16) * white) / 255)
      .toString(16)
      .padStart(2, '0'),
  );
  return parts.join('').toUpperCase();
}
