/** The markup of subtitles: styles and colours. */

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
