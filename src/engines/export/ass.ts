/** Subtitles in the ASS format, for burning in: the only format with an exact layout. */
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { stripMarkup } from '../text.ts';
import type { PictureSize } from './picture.ts';

/** Row height as a share of the picture's height, as used by streaming services. */
const FONT_SHARE = 0.055;
const MARGIN_SHARE = 0.05;
const OUTLINE_SHARE = 0.003;

/** Formats an ASS file. Text is shown literally and never interpreted as an override tag. */
export function formatAss(lines: readonly SubtitleLine[], picture: PictureSize): string {
  const share = (part: number) => Math.max(1, Math.round(picture.height * part));
  const style = [
    ...['Default', 'sans-serif', share(FONT_SHARE)],
    // White, secondary colour unused, black outline, half-transparent shadow.
    ...['&H00FFFFFF', '&H00FFFFFF', '&H00000000', '&H80000000'],
    // Not bold, italic, underlined or struck out; normal scale, no spacing, no angle; outlined; bottom centre.
    ...[0, 0, 0, 0, 100, 100, 0, 0, 1, share(OUTLINE_SHARE), 0, 2],
    ...[share(MARGIN_SHARE), share(MARGIN_SHARE), share(MARGIN_SHARE), 1],
  ];
  const rows = lines.map(
    (line) =>
      `Dialogue: 0,${assTime(line.start_ms)},${assTime(line.end_ms)},Default,,0,0,0,,${escapeAss(line.text)}`,
  );
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

/** Replaces braces, which start override tags, and backslashes, which start line breaks, by similar characters. */
function escapeAss(text: string): string {
  return stripMarkup(text)
    .replaceAll('\\', '\u29F5')
    .replaceAll('{', '\uFF5B')
    .replaceAll('}', '\uFF5D')
    .replaceAll('\n', '\\N');
}

/** Formats as `h:mm:ss.cc`. */
function assTime(milliseconds: number): string {
  const centiseconds = Math.round(milliseconds / 10);
  const two = (value: number) => String(value).padStart(2, '0');
  const seconds = Math.floor(centiseconds / 100);
  const clock = `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return `${clock}.${two(centiseconds % 100)}`;
}
