/** Reads and writes SRT. One pass over the text, so that the cost of a hostile file depends only on its size. */
import { LIMITS } from './limits.ts';
import { isLongerThan, type SubtitleLine } from './subtitle-line.ts';

/** Subtitles that cannot be read. `line` is the row of the file, from 1, or 0 for the whole file. */
export class SubtitleError extends Error {
  override readonly name = 'SubtitleError';
  readonly line: number;

  constructor(message: string, line: number) {
    super(line === 0 ? message : `line ${line}: ${message}`);
    this.line = line;
  }
}

const TIME = String.raw`(\d{1,3}):(\d{1,2}):(\d{1,2})[,.](\d{1,3})`;
/** Some tools write coordinates after the times. They are accepted and dropped. */
const TIMING = new RegExp(String.raw`^\s*${TIME}\s*-->\s*${TIME}(?:\s.*)?$`);
const ARROW = /-->/g;

/** Decodes strict UTF-8, then parses. @throws SubtitleError for other encodings, and like `parseSrt` */
export function decodeSrt(bytes: Uint8Array, mostLines: number = LIMITS.subtitleLines): SubtitleLine[] {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new SubtitleError('the file is not UTF-8; save it as UTF-8 and try again', 0);
  }
  return parseSrt(text, mostLines);
}

/**
 * Parses SRT. Accepts CRLF and CR, a byte order mark, missing numbers, and `.` for `,`. Renumbers cues from 1.
 * @throws SubtitleError with the row for a cue without times, times that end before they start, a text over the limit
 * of characters, an empty file, and more lines than `mostLines`: by default the 10,000 of the specification
 */
export function parseSrt(text: string, mostLines: number = LIMITS.subtitleLines): SubtitleLine[] {
  const cues: SubtitleLine[] = [];
  for (const block of blocks(text)) {
    const cue = parseBlock(block, cues.length + 1);
    if (cue !== null) cues.push(cue);
    if (cues.length > mostLines) {
      throw new SubtitleError(`more than ${mostLines} subtitle lines`, block.row);
    }
  }
  if (cues.length === 0) throw new SubtitleError('the file has no subtitles', 0);
  return cues;
}

/** Returns whether a text begins with a cue. The text may be cut anywhere after the times. */
export function beginsLikeSrt(text: string): boolean {
  const [block] = blocks(text);
  const [first = '', second = ''] = block?.rows ?? [];
  return TIMING.test(first) || (/^\s*\d+\s*$/.test(first) && TIMING.test(second));
}

/** A number, the times, and a text with one character per row. One row more shows that the limit is exceeded. */
const MOST_ROWS = 2 + LIMITS.lineCharacters + 1;

interface Block {
  /** Row of the first line in the file, from 1. */
  readonly row: number;
  /** At most `MOST_ROWS`. A longer block is refused anyway. */
  readonly rows: readonly string[];
}

/**
 * Yields runs of rows between blank rows. A generator, because a file of line breaks contains millions of empty rows.
 */
function* blocks(text: string): Generator<Block> {
  let rows: string[] = [];
  let row = 0;
  let first = 0;
  for (const content of splitRows(text)) {
    row += 1;
    if (content.trim() === '') {
      if (rows.length > 0) yield { row: first, rows };
      rows = [];
    } else {
      if (rows.length === 0) first = row;
      if (rows.length < MOST_ROWS) rows.push(content);
    }
  }
  if (rows.length > 0) yield { row: first, rows };
}

function* splitRows(text: string): Generator<string> {
  let start = text.startsWith('\uFEFF') ? 1 : 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== 10 && code !== 13) continue;
    yield text.slice(start, at);
    if (code === 13 && text.charCodeAt(at + 1) === 10) at += 1;
    start = at + 1;
  }
  if (start < text.length) yield text.slice(start);
}

function parseBlock({ row, rows }: Block, index: number): SubtitleLine | null {
  const [first = '', second = ''] = rows;
  const numbered = !first.includes('-->');
  const timing = TIMING.exec(numbered ? second : first);
  if (timing === null) {
    const shown = first.slice(0, 40);
    throw new SubtitleError(
      `expected a number and times such as 00:00:01,000 --> 00:00:02,500, found "${shown}"`,
      row,
    );
  }
  if (numbered && !/^\s*\d+\s*$/.test(first)) {
    throw new SubtitleError(`expected the number of the cue, found "${first.slice(0, 40)}"`, row);
  }
  const textRows = rows.slice(numbered ? 2 : 1);
  const stray = textRows.findIndex((content) => TIMING.test(content));
  if (stray >= 0) {
    throw new SubtitleError('a blank line is missing before this cue', row + stray + (numbered ? 2 : 1));
  }
  const start = milliseconds(timing, 1);
  const end = milliseconds(timing, 5);
  if (end <= start) throw new SubtitleError('the cue ends before it starts', row);
  // A cue without text has no effect. Many editors write such cues.
  if (textRows.length === 0) return null;
  const text = normalizeCueText(textRows.join('\n'));
  if (isLongerThan(LIMITS.lineCharacters, text)) {
    throw new SubtitleError(`the cue has more than ${LIMITS.lineCharacters} characters`, row);
  }
  return { index, start_ms: start, end_ms: end, text };
}

function milliseconds(timing: RegExpExecArray, at: number): number {
  const [hours = 0, minutes = 0, seconds = 0] = timing.slice(at, at + 3).map(Number);
  const fraction = Number((timing[at + 3] ?? '').padEnd(3, '0'));
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + fraction;
}

/**
 * Returns text in a form that a cue can contain: `\n` between rows, no blank row, and no `-->`, which would be read as
 * times.
 */
export function normalizeCueText(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map((row) => row.trim())
    .filter((row) => row !== '')
    .join('\n')
    .replaceAll(ARROW, '→');
}

/** Writes SRT with `\n` and a blank line after each cue. Cues are numbered from 1. */
export function formatSrt(lines: readonly SubtitleLine[]): string {
  return formatNumberedSrt(lines.map((line, position) => ({ ...line, index: position + 1 })));
}

/** Writes SRT with `\n` and a blank line after each cue. The number of a cue is its index. */
export function formatNumberedSrt(lines: readonly SubtitleLine[]): string {
  return lines
    .map((line) => {
      const times = `${formatTime(line.start_ms)} --> ${formatTime(line.end_ms)}`;
      return `${line.index}\n${times}\n${normalizeCueText(line.text)}\n\n`;
    })
    .join('');
}

/** Formats as `hh:mm:ss,mmm`. Hours may have more than two digits. */
export function formatTime(totalMs: number): string {
  const pad = (value: number, width: number) => String(value).padStart(width, '0');
  const seconds = Math.floor(totalMs / 1000);
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${clock.map((value) => pad(value, 2)).join(':')},${pad(totalMs % 1000, 3)}`;
}
