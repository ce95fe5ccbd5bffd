/** What is kept of an ASS file: who says what when. Styles and instructions are hostile weight to a parser of all of it. */

/** Rows that say when what is shown; what else an ASS file holds is not read. */
const EVENT_ROW = /^\s*(?:\[|Dialogue\s{0,8}:)/i;
const FORMAT_ROW = /^\s*Format\s{0,8}:/i;
/** An instruction in braces; an opening brace that nothing closes in its row is text. */
const BRACES = /\{[^{}\n]*\}|\{/g;
/** The columns of every file of version 4+; one without this row means them. */
const COLUMNS = 'Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text';
/** Switches drawing on and off: what stands between is a shape, not text. */
const DRAWING = /\\p(\d)/;

/** The events of an ASS text with all instructions taken out but for those that begin and end a drawing. */
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
  if (found === '{') return '\uFF5B'; // the look-alike that other tools write for a brace in text
  const drawing = DRAWING.exec(found);
  return drawing === null ? '' : `{\\p${drawing[1]}}`;
}

/** The text of a dialogue row without its instructions and drawings. */
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

/** `\N` and `\n` break the row, `\h` is a space that does not. Source: Aegisub manual, "ASS override tags". */
export function assText(text: string): string {
  return text.replace(/\\N/gi, '\n').replaceAll('\\h', '\u00A0');
}
