/** Reads and writes SRT. One pass over the text, so that the cost of a hostile file depends only on its size. */
import { LIMITS } from './limits.ts';
import { isLongerThan, type SubtitleLine } from './subtitle-line.ts';

/** Subtitles that cannot be read. `line` is the row of the file, from 1, or 0 for the whole file. */
export class SubtitleError extends Error {
  override readonly name = 'SubtitleError';
  readonly line: number;

  constructor(message: string, line: number) {
    super(line === 0 ? message : `row ${line}: ${message}`);
    this.line = line;
  }
}

const TIME = String.raw`(\d{1,3}):(\d{1,2}):(\d{1,2})[,.](\d{1,3})`;
/** Some tools write coordinates after the times. They are accepted and dropped. */
const TIMING = new RegExp(String.raw`^\s*${TIME}\s*-->\s*${TIME}(?:\s.*)?$`);
/** Longer rows cannot be times, so patterns are not tried on them. */
const LONGEST_TIMES = 1_000;
const ANY_TIME = String.raw`\s*\d+(?::\d+){1,2}[.,:]\d+\s*`;
/** An arrow with a clock time, or two times with anything like an arrow between them: meant as times, but not usable. */
const MEANT_AS_TIMES = new RegExp(
  String.raw`^(?=.*-->).*\d:\d|^${ANY_TIME}[-\u2010-\u2015\u2212]*\s*>${ANY_TIME}$`,
);
const BEGINS_WITH_TIME = /^\s*\d{1,3}:\d\d:\d\d,\d{3}(?!\d)/;
const NUMBER = /^\s*\d{1,9}\s*$/;
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
 * Parses SRT. Accepts CRLF and CR, a byte order mark, missing numbers, `.` for `,`, and blank rows that are missing or too many
 * where numbers and times leave one meaning. Renumbers cues from 1.
 * @throws SubtitleError with the row for what is not a cue, times that end before they start, a text over the limit
 * of characters, an empty file, and more lines than `mostLines`: by default the 10,000 of the specification
 */
export function parseSrt(text: string, mostLines: number = LIMITS.subtitleLines): SubtitleLine[] {
  const lines: SubtitleLine[] = [];
  for (const found of scanSrt(text)) {
    if ('message' in found) throw new SubtitleError(found.message, found.row);
    const line = toLine(found, lines.length + 1);
    if (line !== null) lines.push(line);
    if (lines.length > mostLines) {
      throw new SubtitleError(`more than ${mostLines} subtitle lines`, found.firstRow);
    }
  }
  if (lines.length === 0) throw new SubtitleError('the file has no subtitles', 0);
  return lines;
}

function toLine({ row, firstRow, start_ms, end_ms, rows }: SrtCue, index: number): SubtitleLine | null {
  if (end_ms <= start_ms) throw new SubtitleError(ENDS_BEFORE_START, row);
  const text = normalizeCueText(rows.join('\n'));
  // A cue without text has no effect. Many editors write such cues.
  if (text === '') return null;
  if (isLongerThan(LIMITS.lineCharacters, text)) {
    throw new SubtitleError(`the cue has more than ${LIMITS.lineCharacters} characters`, firstRow);
  }
  return { index, start_ms, end_ms, text };
}

export const ENDS_BEFORE_START = 'the cue ends before it starts';

/** Returns whether a text begins with a cue. The text may be cut anywhere after the times. */
export function beginsLikeSrt(text: string): boolean {
  const [found] = scanSrt(text);
  return found !== undefined && !('message' in found);
}

/** A cue as it is in the file. Rows are counted from 1. */
export interface SrtCue {
  /** Row of the times. */
  readonly row: number;
  /** Row of its number, or of the times if it has none. */
  readonly firstRow: number;
  readonly start_ms: number;
  readonly end_ms: number;
  /** At most `MOST_ROWS`: a longer text is refused anyway. Blank rows may be among them, but not at the end. */
  readonly rows: readonly string[];
  /** Whether the blank row before it is missing. */
  readonly isTight: boolean;
}

/** A text with one character per row. One row more shows that the limit is exceeded. */
const MOST_ROWS = LIMITS.lineCharacters + 1;

/** A row that cannot be read, from 1, and why. */
export interface SubtitleFault {
  readonly row: number;
  readonly message: string;
}

/** A row that may be the number of the next cue, or text. */
interface HeldRow {
  readonly row: number;
  readonly content: string;
  /** Blank rows before it. */
  readonly blanks: number;
}

/**
 * Yields the cues of an SRT file, and the rows that cannot be read. A cue ends at the number and times of the next one, because
 * blank rows may be missing or too many. A generator, because a file of line breaks contains millions of empty rows.
 */
export function* scanSrt(text: string): Generator<SrtCue | SubtitleFault> {
  let open: (SrtCue & { readonly rows: string[] }) | null = null;
  let held: HeldRow | null = null;
  /** The number that the next cue should have. */
  let next = 1;
  /** What follows a row that cannot be read belongs to it. */
  let isSkipping = false;
  let row = 0;
  let blanks = 0;

  /** Yields what a row means that is no number of a cue. @param after the next row that is not blank; null at the end */
  function* settle(after: HeldRow | null): Generator<SrtCue | SubtitleFault> {
    if (held === null || isSkipping) return;
    const { content, blanks: before } = held;
    const isNumber = NUMBER.test(content);
    const isHead = Number(content) === next || BEGINS_WITH_TIME.test(after?.content ?? '');
    if (open !== null && before < MOST_ROWS && !(isNumber && before > 0 && isHead)) {
      const room = MOST_ROWS - open.rows.length;
      open.rows.push(
        ...[...Array.from({ length: Math.min(before, room) }, () => ''), content].slice(0, room),
      );
      return;
    }
    if (open !== null) yield open;
    open = null;
    isSkipping = true;
    const found = isNumber && after !== null ? after : held;
    yield { row: found.row, message: expectedFailure(isNumber ? '' : 'a number and ', found.content) };
  }

  for (const content of splitRows(text)) {
    row += 1;
    if (content.trim() === '') {
      blanks += 1;
      continue;
    }
    const times = readTiming(content);
    if (times === null) {
      const after = { row, content, blanks };
      yield* settle(after);
      held = after;
      blanks = 0;
      continue;
    }
    // A row of digits at the end of a cue without a number of its own is text.
    const isText: boolean = open !== null && open.firstRow === open.row && held?.blanks === 0 && blanks > 0;
    const number: HeldRow | null = held !== null && !isText && NUMBER.test(held.content) ? held : null;
    const isAmbiguous: boolean =
      open !== null && number !== null && number.blanks === 0 && Number(number.content) !== next;
    if (number === null) yield* settle(null);
    if (open !== null) yield open;
    open = null;
    if (isAmbiguous) yield { row, message: 'a blank line is missing before this cue' };
    if (typeof times === 'string') yield { row, message: times };
    isSkipping = isAmbiguous || typeof times === 'string';
    if (number !== null) next = Number(number.content);
    next += 1;
    const before: number = number === null ? blanks : number.blanks;
    const firstRow: number = number?.row ?? row;
    if (!isSkipping && typeof times !== 'string')
      open = { row, firstRow, ...times, rows: [], isTight: before === 0 && firstRow > 1 };
    held = null;
    blanks = 0;
  }
  yield* settle(null);
  if (open !== null) yield open;
}

/** Start and end in milliseconds; a reason for a row that is meant as times; null for any other. */
function readTiming(row: string): Pick<SubtitleLine, 'start_ms' | 'end_ms'> | string | null {
  if (row.length > LONGEST_TIMES) return null;
  const timing = TIMING.exec(row);
  if (timing === null) return MEANT_AS_TIMES.test(row) ? expectedFailure('', row) : null;
  const parts = [timing[2], timing[3], timing[6], timing[7]].map(Number);
  if (parts.some((part) => part > 59)) return `minutes and seconds end at 59, found "${excerpt(row)}"`;
  return { start_ms: milliseconds(timing, 1), end_ms: milliseconds(timing, 5) };
}

/** @param number what is expected before the times */
function expectedFailure(number: string, found: string): string {
  return `expected ${number}times such as 00:00:01,000 --> 00:00:02,500, found "${excerpt(found)}"`;
}

/** The beginning of a row, for a message. */
export function excerpt(row: string): string {
  return row.trim().slice(0, 40);
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
