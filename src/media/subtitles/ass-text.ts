/**
 * Extracts times and text from an ASS file. Styles and override tags are skipped, because parsing hostile ones is
 * expensive.
 */

/** The rows with times and text. All other rows of an ASS file are skipped. */
const EVENT_ROW = /^\s*(?:\[|Dialogue\s{0,8}:)/i;
const FORMAT_ROW = /^\s*Format\s{0,8}:/i;
/** An override block in braces. An opening brace without a closing one in the same row is text. */
const BRACES = /\{[^{}\n]*\}|\{/g;
/** The columns of version 4+ files, used if a file has no such row. */
const COLUMNS = 'Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text';
/** Switches drawing mode on and off: the text in between is a shape. */
const DRAWING = /\\p(\d)/;

/** Returns the events of an ASS text without override tags, except tags that begin or end a drawing. */
export function onlyEvents(text: string): string {
  let hasFormat = false;
  let inEvents = false;
  const rows: string[] = [];
  for (const row of text.split('\n')) {
    if (/^\s*\[/.test(row)) inEvents = /^\s*\[Events\]/i.test(row);
    const isFormat: boolean = inEvents && !hasFormat && FORMAT_ROW.test(row);
    hasFormat ||= isFormat;
    if (isFormat || (inEvents && EVENT_ROW.test(row))) rows.push(row);
  }
  return ['[Events]', ...(hasFormat ? [] : [COLUMNS]), ...rows].join('\n').replace(BRACES, simplifyBraces);
}

function simplifyBraces(found: string): string {
  if (found === '{') return '\uFF5B'; // full-width brace, which other tools also write for a brace in text
  const drawing = DRAWING.exec(found);
  return drawing === null ? '' : `{\\p${drawing[1]}}`;
}

/** Returns the text of a dialogue row without override tags and drawings. */
export function plainAssText(text: string): string {
  let plain = '';
  let from = 0;
  let isDrawing = false;
  for (const { 0: found, index } of text.matchAll(BRACES)) {
    if (!isDrawing) plain += text.slice(from, index) + (found === '{' ? '\uFF5B' : '');
    const drawing = DRAWING.exec(found);
    if (drawing !== null) isDrawing = drawing[1] !== '0';
    from = index + found.length;
  }
  return assText(isDrawing ? plain : plain + text.slice(from));
}

/** `\N` and `\n` are line breaks, `\h` is a non-breaking space. Source: Aegisub manual, "ASS override tags". */
export function assText(text: string): string {
  return text.replace(/\\N/gi, '\n').replaceAll('\\h', '\u00A0');
}
