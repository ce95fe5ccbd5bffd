/** Aligns subtitles in two languages. */
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';

export interface LinePair {
  readonly start_ms: number;
  readonly end_ms: number;
  readonly original: SubtitleLine | null;
  readonly translated: SubtitleLine | null;
}

/**
 * Pairs each line with the one that it overlaps most, each line at most once; other lines stay single. Inputs and result are
 * ordered by time. The time of a pair is that of its translated line, which is the spoken one.
 */
export function pairLines(
  originals: readonly SubtitleLine[],
  translations: readonly SubtitleLine[],
): LinePair[] {
  const pairs: LinePair[] = [];
  const taken = new Set<SubtitleLine>();
  let first = 0;
  for (const translated of translations) {
    // Lines that ended before this one started cannot pair with it or with any later one.
    while ((originals[first]?.end_ms ?? Number.POSITIVE_INFINITY) <= translated.start_ms) first += 1;
    const original = findPartner(originals, first, translated, taken);
    if (original !== null) taken.add(original);
    pairs.push({ start_ms: translated.start_ms, end_ms: translated.end_ms, original, translated });
  }
  for (const original of originals) {
    if (taken.has(original)) continue;
    pairs.push({ start_ms: original.start_ms, end_ms: original.end_ms, original, translated: null });
  }
  return pairs.sort((left, right) => left.start_ms - right.start_ms);
}

function findPartner(
  originals: readonly SubtitleLine[],
  first: number,
  translated: SubtitleLine,
  taken: ReadonlySet<SubtitleLine>,
): SubtitleLine | null {
  let best: SubtitleLine | null = null;
  let most = 0;
  for (let at = first; at < originals.length; at += 1) {
    const original = originals[at];
    if (original === undefined || original.start_ms >= translated.end_ms) break;
    const shared =
      Math.min(original.end_ms, translated.end_ms) - Math.max(original.start_ms, translated.start_ms);
    if (shared > most && !taken.has(original)) {
      best = original;
      most = shared;
    }
  }
  return best;
}

/** Index of the last line that has started at a time, even if it has ended; -1 before the first. */
export function lineAt(lines: readonly { readonly start_ms: number }[], ms: number): number {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle]?.start_ms ?? 0) <= ms) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Text in one style. */
interface TextRun {
  readonly text: string;
  readonly isItalic: boolean;
  readonly isBold: boolean;
  readonly isUnderlined: boolean;
  /** Null for the colour of the surrounding text. */
  readonly color: TextColor | null;
}

interface TextColor {
  /** As CSS. */
  readonly css: string;
  /** The ground on which it has a contrast of 4.5 or more: each colour has it on one of the two. */
  readonly ground: '#000' | '#fff';
}

const TAG = /<(\/?)(i|b|u|font)(\s[^<>]*)?>/gi;

/** Splits text into runs. Tags need not be closed, or closed in order; a closing tag without an opening one is dropped. */
export function readMarkup(text: string): TextRun[] {
  const runs: TextRun[] = [];
  const open = { i: 0, b: 0, u: 0 };
  const colors: (TextColor | null)[] = [];
  let from = 0;
  const flush = (to: number) => {
    if (to === from) return;
    runs.push({
      text: text.slice(from, to),
      isItalic: open.i > 0,
      isBold: open.b > 0,
      isUnderlined: open.u > 0,
      color: colors.at(-1) ?? null,
    });
  };
  for (const match of text.matchAll(TAG)) {
    const [tag, slash, name = '', attributes = ''] = match;
    flush(match.index);
    from = match.index + tag.length;
    const isClosing = slash === '/';
    const kind = name.toLowerCase();
    if (kind === 'i' || kind === 'b' || kind === 'u') {
      open[kind] = Math.max(0, open[kind] + (isClosing ? -1 : 1));
    } else if (isClosing) colors.pop();
    else colors.push(readColor(attributes) ?? colors.at(-1) ?? null);
  }
  flush(text.length);
  return runs;
}

/** The text without markup. */
export function plainText(text: string): string {
  return text.replace(TAG, '');
}

/** The colours of HTML 4 and the others that subtitle editors name. */
const NAMES: Readonly<Record<string, string>> = {
  ...{ black: '000000', silver: 'c0c0c0', gray: '808080', grey: '808080', white: 'ffffff', maroon: '800000' },
  ...{
    red: 'ff0000',
    purple: '800080',
    fuchsia: 'ff00ff',
    magenta: 'ff00ff',
    green: '008000',
    lime: '00ff00',
  },
  ...{ olive: '808000', yellow: 'ffff00', navy: '000080', blue: '0000ff', teal: '008080', aqua: '00ffff' },
  ...{ cyan: '00ffff', orange: 'ffa500', pink: 'ffc0cb', brown: 'a52a2a' },
};

/** Null for no colour, or one that is unknown. */
function readColor(attributes: string): TextColor | null {
  const value = /\bcolor\s*=\s*["']?\s*(#?[0-9a-z]+)/i.exec(attributes)?.[1]?.toLowerCase();
  if (value === undefined) return null;
  const hex = Object.hasOwn(NAMES, value) ? NAMES[value] : value.replace('#', '');
  const digits = hex?.length === 3 ? hex.replaceAll(/./g, '$&$&') : hex;
  if (digits === undefined || !/^[0-9a-f]{6}$/.test(digits)) return null;
  return { css: `#${digits}`, ground: luminance(digits) > EQUAL_CONTRAST ? '#000' : '#fff' };
}

/** The luminance with the same contrast to black and to white: the root of 1.05 × 0.05, less 0.05. */
const EQUAL_CONTRAST = 0.179;

/** Source: WCAG 2.2, "relative luminance". */
function luminance(digits: string): number {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const share = Number.parseInt(digits.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
