/** Subtitles in the ASS format, for burning in: the only format with an exact layout. */

import { scriptOf } from '../../protocol/languages.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { stripMarkup } from '../subtitles/text.ts';
import { countColumns, ROW_COLUMNS, wrapText } from '../subtitles/wrap.ts';
import { styleRows } from './markup.ts';
import type { PictureSize } from './picture.ts';

/** Row height as a share of the picture's shorter side, as used by streaming services. */
const FONT_SHARE = 0.055;
const MARGIN_SHARE = 0.05;
const OUTLINE_SHARE = 0.003;
/** Mean width of a character as a share of the row height, in DejaVu Sans, which is a wide font. */
const COLUMN_SHARE = 0.5;

/** How subtitles are burned in. */
interface Burning {
  /** The language of the text, a BCP 47 tag. */
  readonly language: string;
  /** The brightness of the text, 0 to 255. */
  readonly white: number;
  /** Displayed width of a pixel divided by its height. Letters are drawn narrower by it. */
  readonly pixelAspect: number;
}

/**
 * Formats an ASS file. Text is shown literally and never interpreted as an override tag.
 * @param burning adapts font, direction and rows for burning in; null keeps the rows, for files that users edit
 */
export function formatAss(
  lines: readonly SubtitleLine[],
  picture: PictureSize,
  burning: Burning | null = null,
): string {
  const pixelAspect = burning?.pixelAspect ?? 1;
  const shownWidth = picture.width * pixelAspect;
  const short = Math.min(shownWidth, picture.height);
  const share = (part: number) => Math.max(1, Math.round(short * part));
  const margin = share(MARGIN_SHARE);
  const height = Math.min(share(FONT_SHARE), widestFont(shownWidth - 2 * margin));
  const colour = `&H00${(burning?.white ?? 255).toString(16).padStart(2, '0').repeat(3).toUpperCase()}`;
  const style = [
    ...['Default', burning === null ? 'sans-serif' : fontFamily(burning.language), height],
    // Secondary colour unused, black outline, half-transparent shadow.
    ...[colour, colour, '&H00000000', '&H80000000'],
    // Not bold, italic, underlined or struck out; width and height in percent, no spacing, no angle; outlined; bottom
    // centre.
    ...[0, 0, 0, 0, Math.round(1e4 / pixelAspect) / 100, 100, 0, 0, 1, share(OUTLINE_SHARE), 0, 2],
    ...[margin, margin, margin, 1],
  ];
  const mostRows = Math.max(1, Math.floor((picture.height - 2 * margin) / height));
  const rows = lines.map(({ start_ms, end_ms, text }) => {
    const shown = burning === null ? plainRows(text) : layOut(text, burning);
    // A cue that is higher than the picture is shown in smaller letters, so that all of it can be read.
    const isTooHigh = burning !== null && shown.length > mostRows;
    const size = isTooHigh ? `{\\fs${Math.floor((height * mostRows) / shown.length)}}` : '';
    return `Dialogue: 0,${assTime(start_ms)},${assTime(end_ms)},Default,,0,0,0,,${size}${shown.join('\\N')}`;
  });
  return [
    '[Script Info]',
    'ScriptType: v4.00+',
    `PlayResX: ${picture.width}`,
    `PlayResY: ${picture.height}`,
    'WrapStyle: 0',
    '',
    '[V4+ Styles]',
    'Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, ' +
      'Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, ' +
      'MarginR, MarginV, Encoding',
    `Style: ${style.join(',')}`,
    '',
    '[Events]',
    'Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text',
    ...rows,
    '',
  ].join('\n');
}

/** The largest row height with which a whole row fits a width. It applies to portrait pictures. */
function widestFont(width: number): number {
  return Math.max(1, Math.floor(width / ROW_COLUMNS / COLUMN_SHARE));
}

/** The forms of Chinese characters differ by country. Other fonts are used where these are not installed. */
const CJK_FAMILIES: Readonly<Record<string, string>> = {
  Jpan: 'Noto Sans CJK JP',
  Kore: 'Noto Sans CJK KR',
  Hans: 'Noto Sans CJK SC',
  Hant: 'Noto Sans CJK TC',
};

function fontFamily(language: string): string {
  return CJK_FAMILIES[scriptOf(language) ?? ''] ?? 'sans-serif';
}

/** Returns the rows of a cue. Rows that fit are kept; others are wrapped. */
function layOut(text: string, { language, white }: Burning): string[] {
  const wrapped = plainRows(text).flatMap((row) =>
    countColumns(row) <= ROW_COLUMNS ? [row] : wrapText(row, 'split').split('\n'),
  );
  const rows = styleRows(wrapped, text, white);
  return runsRightToLeft(text, language) ? rows.map((row) => EMBEDDING + row + END_EMBEDDING) : rows;
}

/** Returns the rows of a cue without markup. */
function plainRows(text: string): string[] {
  return stripMarkup(text).split('\n').map(escapeAss);
}

/** Explicit marks, because renderers do not detect the direction: the full stop would be on the wrong side. */
const EMBEDDING = '\u202B';
const END_EMBEDDING = '\u202C';
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/gu;
const RIGHT_TO_LEFT_SCRIPTS: ReadonlySet<string | null> = new Set('Arab Hebr Syrc Thaa Nkoo Adlm'.split(' '));

/** A cue in a right-to-left language may begin with, or mostly contain, names in Latin letters. */
function runsRightToLeft(text: string, language: string): boolean {
  const count = text.match(RIGHT_TO_LEFT)?.length ?? 0;
  if (count === 0) return false;
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return count * 2 > letters || RIGHT_TO_LEFT_SCRIPTS.has(scriptOf(language));
}

/** Replaces braces, which start override tags, and backslashes, which start line breaks, by similar characters. */
function escapeAss(row: string): string {
  return row.replaceAll('\\', '\u29F5').replaceAll('{', '\uFF5B').replaceAll('}', '\uFF5D');
}

/** Formats as `h:mm:ss.cc`. */
function assTime(milliseconds: number): string {
  const centiseconds = Math.round(milliseconds / 10);
  const two = (value: number) => String(value).padStart(2, '0');
  const seconds = Math.floor(centiseconds / 100);
  const clock = `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return `${clock}.${two(centiseconds % 100)}`;
}
