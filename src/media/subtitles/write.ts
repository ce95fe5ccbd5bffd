/** Writes subtitles as SRT, WebVTT and ASS, for files and for burning in: ASS is the only format with an exact layout. */
import { decodeHTMLStrict } from 'entities';
import { scriptOf } from '../../protocol/languages.ts';
import { formatSrt, formatTime, normalizeCueText } from '../../protocol/srt.ts';
import type { SpokenLine, SubtitleFormat } from '../../protocol/subtitle-line.ts';
import type { PictureSize } from '../encode/picture.ts';
import type { PairedLine, SecondLanguage } from '../work.ts';
import { joinSource, markSource } from './bilingual.ts';
import { CUE_TEXT, escapeAss, vttSettings } from './cue-text.ts';
import { chooseLook, type Look } from './look.ts';
import { SPEAKER } from './rewrap.ts';
import { assColour, assDigits, colourOf, findTags } from './style-tags.ts';
import { joinSpaced, stripMarkup } from './text.ts';
import { countColumns, ROW_COLUMNS, wrapText } from './wrap.ts';

/** Mean width of a character as a share of the row height, in DejaVu Sans, which is a wide font. */
const COLUMN_SHARE = 0.5;
/** The same in bold. */
const BOLD_SHARE = 0.58;
/** Values of BorderStyle. The second is an extension of libass, which draws one box instead of one for each row. */
const [OUTLINED, BOXED] = [1, 4];
/** The source of a translation is read second: it has smaller letters, and darker ones. */
const SOURCE = { style: 'Source', size: 0.75, brightness: 0.8 } as const;
/** Space around the text in a box, as a share of the row height. */
const BOX_SHARE = 0.2;

/** How subtitles are burned in. */
interface Burning {
  /** The language of the text, a BCP 47 tag. */
  readonly language: string;
  /** The brightness of the text, 0 to 255. */
  readonly white: number;
  /** Displayed width of a pixel divided by its height. Letters are drawn narrower by it. */
  readonly pixelAspect: number;
  readonly look?: Look | undefined;
}

/**
 * Formats an ASS file. Text is shown literally and never interpreted as an override tag.
 * @param burning adapts font, direction and rows for burning in; null keeps the rows, for files that users edit
 * @param second how the texts of the source are shown; null for none
 */
export function formatAss(
  lines: readonly PairedLine[],
  picture: PictureSize,
  burning: Burning | null = null,
  second: SecondLanguage | null = null,
): string {
  const pixelAspect = burning?.pixelAspect ?? 1;
  const shownWidth = picture.width * pixelAspect;
  const short = Math.min(shownWidth, picture.height);
  const share = (percent: number) => Math.max(1, Math.round((short * percent) / 100));
  const look = chooseLook(burning?.look ?? {}, picture.height > shownWidth);
  const white = burning?.white ?? 255;
  const height = share(look.size);
  const border = look.box === null ? 0 : Math.round(height * BOX_SHARE);
  const beside = share(look.side_margin) + border;
  const below = Math.round((picture.height * look.margin) / 100) + border;
  const columnsOf = (size: number) => {
    const fitting = Math.floor((shownWidth - 2 * beside) / (size * (look.bold ? BOLD_SHARE : COLUMN_SHARE)));
    return Math.max(1, Math.min(ROW_COLUMNS, fitting));
  };
  const styleOf = (name: string, language: string, size: number, brightness: number) => {
    const colour = styleColour(look.color, brightness);
    return [
      ...[name, burning === null ? 'sans-serif' : (look.font ?? fontFamily(language)), size],
      // The secondary colour is unused. The back colour is that of the box, or of the shadow.
      ...[
        colour,
        colour,
        styleColour(look.outline_color, white),
        styleColour(look.box ?? '#0000007F', white),
      ],
      // Not italic, underlined or struck out; width and height in percent, no spacing, no angle.
      ...[look.bold ? -1 : 0, 0, 0, 0, Math.round(1e4 / pixelAspect) / 100, 100, 0, 0],
      // The shadow of a box is its border.
      ...[border === 0 ? OUTLINED : BOXED, look.outline === 0 ? 0 : share(look.outline), border],
      ...[{ bottom: 2, middle: 5, top: 8 }[look.position], beside, beside, below, 1],
    ].join(',');
  };
  const sourceHeight = Math.max(1, Math.round(height * SOURCE.size));
  const styles = [
    styleOf('Default', burning?.language ?? '', height, white),
    ...(second === null
      ? []
      : [styleOf(SOURCE.style, second.language, sourceHeight, Math.round(white * SOURCE.brightness))]),
  ];
  const rowsOf = (text: string, language: string, size: number) =>
    // ASS has no references: those that `decodeReferences` leaves are decoded here.
    burning === null
      ? [decodeHTMLStrict(CUE_TEXT.ass.encode(text))]
      : layOut(text, { ...burning, language }, columnsOf(size));
  const mostRows = Math.max(1, Math.floor((picture.height - below - beside) / height));
  const rows = lines.map(({ start_ms, end_ms, text, source, speaker = '' }) => {
    const own = { style: '', size: height, rows: rowsOf(text, burning?.language ?? '', height) };
    const parts: (typeof own)[] = [own];
    if (source !== undefined && second !== null) {
      const shown = burning === null ? markSource(source) : source;
      const rows = rowsOf(shown, second.language, sourceHeight);
      parts.splice(second.place === 'above' ? 0 : 1, 0, { style: SOURCE.style, size: sourceHeight, rows });
    }
    // A cue that is higher than the picture is shown in smaller letters, so that all of it can be read.
    const count = parts.reduce((sum, part) => sum + (part.rows.length * part.size) / height, 0);
    const isTooHigh = burning !== null && count > mostRows;
    const texts = parts.map((part) => {
      const tags = [
        ...(parts.length > 1 ? [`\\r${part.style}`] : []),
        ...(isTooHigh ? [`\\fs${Math.floor((part.size * mostRows) / count)}`] : []),
      ];
      return (tags.length === 0 ? '' : `{${tags.join('')}}`) + part.rows.join('\\N');
    });
    const name = speaker.replaceAll(',', ';');
    return `Dialogue: 0,${formatAssTime(start_ms)},${formatAssTime(end_ms)},Default,${name},0,0,0,,${texts.join('\\N')}`;
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
    ...styles.map((style) => `Style: ${style}`),
    '',
    '[Events]',
    'Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text',
    ...rows,
    '',
  ].join('\n');
}

/** A colour with its transparency, which ASS writes first. @param colour `#RRGGBB`, or `#RRGGBBAA` with the opacity */
function styleColour(colour: string, white: number): string {
  const opacity = Number.parseInt(colour.slice(7) || 'FF', 16);
  const transparency = (255 - opacity).toString(16).padStart(2, '0').toUpperCase();
  return `&H${transparency}${assDigits(colour.slice(1, 7), white)}`;
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

/** Returns the rows of a cue: its own if all of them fit, else those of each speaker wrapped as one text. */
function layOut(text: string, { language, white }: Burning, columns: number): string[] {
  const own = plainRows(text);
  const wrapped = own.every((row) => countColumns(row) <= columns)
    ? own
    : joinRows(own).flatMap((part) => wrapText(part, 'split', columns).split('\n'));
  const rows = styleRows(wrapped, text, white);
  return runsRightToLeft(text, language) ? rows.map((row) => EMBEDDING + row + END_EMBEDDING) : rows;
}

/** Joins the rows of each speaker. */
function joinRows(rows: readonly string[]): string[] {
  const parts: string[] = [];
  for (const row of rows) {
    if (parts.length === 0 || SPEAKER.test(row)) parts.push(row);
    else parts.push(joinSpaced([parts.pop() ?? '', row]));
  }
  return parts;
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

/** Formats as `h:mm:ss.cc`. */
export function formatAssTime(milliseconds: number): string {
  const centiseconds = Math.round(milliseconds / 10);
  const two = (value: number) => String(value).padStart(2, '0');
  const seconds = Math.floor(centiseconds / 100);
  const clock = `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return `${clock}.${two(centiseconds % 100)}`;
}

/**
 * Adds the override tags of a cue's tags to its rows. Wrapping changes only spaces, so the other characters of the rows
 * and of the cue correspond.
 * @param rows of the text without its tags, escaped for ASS: each character is one character
 * @param white the brightness of white, 0 to 255: colours are darkened in the same way
 */
function styleRows(rows: readonly string[], text: string, white: number): string[] {
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
      // Without a number, letters are as bold as the style.
      return `{\\b\\i0\\u0\\s0\\c${style}}${character}`;
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
  for (const { key, isEnd, attributes, from: at, to } of findTags(text)) {
    add(text.slice(from, at));
    from = to;
    const colour = isEnd ? null : colourOf(attributes);
    if (key === 'other') continue;
    if (key !== 'font') depths.set(key, Math.max(0, (depths.get(key) ?? 0) + (isEnd ? -1 : 1)));
    else if (isEnd) colours.pop();
    else colours.push(colour === null ? (colours.at(-1) ?? '') : assColour(colour, white));
  }
  add(text.slice(from));
  return styles;
}

/** The picture size that sizes in an ASS file refer to. Players scale it to their own. */
const ASS_PICTURE = { width: 1920, height: 1080 } as const;

const WRITERS: Record<
  SubtitleFormat,
  (lines: readonly PairedLine[], second: SecondLanguage | null) => string
> = {
  srt: (lines, second) => formatSrt(joinWith(lines, second)),
  vtt: (lines, second) => formatVtt(joinWith(lines, second)),
  ass: (lines, second) => formatAss(lines, ASS_PICTURE, null, second),
};

function joinWith(lines: readonly PairedLine[], second: SecondLanguage | null): readonly SpokenLine[] {
  return second === null ? lines : joinSource(lines, second.place);
}

/**
 * Formats a whole file, numbered from 1. SRT has no place for speakers, and ASS keeps hundredths of a second.
 * @param second how the texts of the source are shown; null for none
 */
export function writeSubtitle(
  lines: readonly PairedLine[],
  format: SubtitleFormat,
  second: SecondLanguage | null = null,
): string {
  return WRITERS[format](lines, second);
}

function formatVtt(lines: readonly SpokenLine[]): string {
  const cues = lines.map(({ start_ms, end_ms, text, speaker }, position) => {
    const times = `${vttTime(start_ms)} --> ${vttTime(end_ms)}${vttSettings(text)}`;
    const voice = speaker === undefined ? '' : `<v ${escapeName(speaker)}>`;
    return `${position + 1}\n${times}\n${voice}${CUE_TEXT.vtt.encode(normalizeCueText(text))}\n\n`;
  });
  return `WEBVTT\n\n${cues.join('')}`;
}

/** A name ends at the first `>`, which has no entity in it for most players. */
function escapeName(name: string): string {
  return name.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '');
}

const vttTime = (milliseconds: number) => formatTime(milliseconds).replace(',', '.');
