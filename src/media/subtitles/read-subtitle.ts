/**
 * Reads SRT, WebVTT and ASS files. They are untrusted: each is read in one pass over its rows, so that the cost of a hostile
 * file depends only on its size.
 */

import { basename } from 'node:path';
import { encodingOf } from '../../base/text-encoding.ts';
import { LIMITS } from '../../protocol/limits.ts';
import {
  ENDS_BEFORE_START,
  excerpt,
  normalizeCueText,
  parseSrt,
  SubtitleError,
  type SubtitleFault,
  scanSrt,
} from '../../protocol/srt.ts';
import {
  cleanSpeaker,
  isLongerThan,
  type SpokenLine,
  type SubtitleFormat,
  type SubtitleLine,
  withoutSpeakers,
} from '../../protocol/subtitle-line.ts';
import { convertibleInput, DECODER_LIMITS, QUIET } from '../programs/arguments.ts';
import { ChildFailure, PreparationFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun } from '../work.ts';
import { CUE_TEXT, splitParts } from './cue-text.ts';
import { unrollCaptions } from './rolling.ts';
import { decodeReferences, hasWords, stripMarkup } from './text.ts';

const MOST_CUES = 10 * LIMITS.subtitleLines;

/** A cue as it is in a file, which may be too broken to be sent. */
export interface ScannedCue {
  /** Number of the cue, from 1. */
  readonly number: number;
  /** Row of the times in the file, from 1. */
  readonly row: number;
  readonly start_ms: number;
  readonly end_ms: number;
  /** What a viewer sees, with the tags of SRT. */
  readonly text: string;
  /** The text as it is in the file, rows separated by `\n`. */
  readonly written: string;
  /** Who speaks; absent if the file does not say, or names several. */
  readonly speaker?: string;
  /** Row before which a blank one is missing; absent if there is one. */
  readonly tightRow?: number;
  /** Where the text is: rows after that of the times, or the cells of an ASS row, of which these are the columns. */
  readonly place: { readonly textRows: number } | { readonly columns: readonly string[] };
}

/** File extensions of the formats. */
/** Names of subtitle files, by how they end. */
export const SUBTITLE_NAME = /\.(srt|vtt|webvtt|ass|ssa)$/i;

/**
 * Reads SRT, WebVTT and ASS or SSA. Detects the format by content first, then by name. Returns cues in order of time,
 * numbered from 1. Skips styles, comments, drawings and cues without text. Does not check the service's limit on lines.
 * @throws PreparationFailure SUBTITLE_INVALID, with the first row that cannot be read
 */
export function readSubtitleFile(bytes: Uint8Array, name: string): SubtitleLine[] {
  return withoutSpeakers(readSpokenFile(bytes, name)).lines;
}

/** The same with the speakers; SRT has no place for them. @throws PreparationFailure SUBTITLE_INVALID */
export function readSpokenFile(bytes: Uint8Array, name: string): SpokenLine[] {
  return readCues(bytes, name).cues.map(({ line }) => line);
}

/** A cue that is shown, and its line. */
export interface ReadCue {
  readonly line: SpokenLine;
  /** Its words without what surrounds all of them in the file, as they are translated and spoken; empty for none. */
  readonly words: string;
  /** The cue in the file; null for a line of rolling captions, which is in several. */
  readonly cue: ScannedCue | null;
}

export interface ReadFile {
  readonly format: SubtitleFormat;
  /** The file as text, without the byte order mark. */
  readonly text: string;
  readonly cues: readonly ReadCue[];
}

/** The same with the file. @throws PreparationFailure SUBTITLE_INVALID */
export function readCues(bytes: Uint8Array, name: string): ReadFile {
  if (bytes.length >= LIMITS.subtitleBytes) {
    throw invalidSubtitleFailure(
      name,
      `it has ${bytes.length} bytes, the limit is below ${LIMITS.subtitleBytes}`,
    );
  }
  try {
    const scanned = scanText(bytes, name);
    return { format: scanned.format, text: scanned.text, cues: shownCues(scanned) };
  } catch (error) {
    if (error instanceof SubtitleError) throw invalidSubtitleFailure(name, error.message, error);
    throw error;
  }
}

/** The lines that are translated or spoken: their words, without cues of symbols only. @throws PreparationFailure SUBTITLE_INVALID */
export function readWordLines(bytes: Uint8Array, name: string): SubtitleLine[] {
  return withoutSpeakers(wordLines(readCues(bytes, name))).lines;
}

/** The same of a file that was read, with the speakers. */
export function wordLines(file: ReadFile): SpokenLine[] {
  return cuesWithWords(file).map(({ line, words }, at) => ({ ...line, index: at + 1, text: words }));
}

export function cuesWithWords({ cues }: ReadFile): readonly ReadCue[] {
  return cues.filter(({ words }) => words !== '');
}

function invalidSubtitleFailure(name: string, message: string, cause?: Error): PreparationFailure {
  const advice = 'fix it in a subtitle editor; formats are SRT, WebVTT and ASS in UTF-8';
  return new PreparationFailure('SUBTITLE_INVALID', `${name}: ${message}`, advice, { cause });
}

/** A file as text, with its format and its cues. */
export interface ScannedText {
  /** Without the byte order mark. */
  readonly text: string;
  readonly format: SubtitleFormat;
  readonly cues: readonly ScannedCue[];
  /** The rows that cannot be read, in their order. */
  readonly faults: readonly SubtitleFault[];
}

/** Scans a file of any format, also one that cannot be sent. @throws SubtitleError for a format that is not read */
export function scanText(bytes: Uint8Array, name: string): ScannedText {
  const text = decodeText(bytes);
  const format = formatOf(text, name);
  return { text, format, ...scanCues(text, format) };
}

/** The cues of a text whose format is known. */
export function scanCues(text: string, format: SubtitleFormat): Pick<ScannedText, 'cues' | 'faults'> {
  const cues: ScannedCue[] = [];
  const faults: SubtitleFault[] = [];
  for (const found of SCANNERS[format](text)) {
    if ('message' in found) faults.push(found);
    else cues.push({ number: cues.length + 1, ...found });
  }
  // The rows of an ASS file may be in any order.
  if (format !== 'ass') return { cues, faults };
  const inOrder = cues.toSorted((left, right) => left.start_ms - right.start_ms);
  return { cues: inOrder.map((cue, position) => ({ ...cue, number: position + 1 })), faults };
}

/** Decodes strict UTF-8, or UTF-16 with a byte order mark, which Windows editors write. */
function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
  } catch {
    throw new SubtitleError('the file is not UTF-8; save it as UTF-8 and try again', 0);
  }
}

/** Encodes a changed text like the bytes that it came from, with the same byte order mark. */
export function encodeLike(bytes: Uint8Array, text: string): Buffer {
  const encoding = encodingOf(bytes);
  const hasMark = encoding !== 'utf-8' || (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf);
  const marked = hasMark ? `\uFEFF${text}` : text;
  if (encoding === 'utf-8') return Buffer.from(marked);
  const encoded = Buffer.from(marked, 'utf16le');
  return encoding === 'utf-16le' ? encoded : encoded.swap16();
}

/** Formats that are not read, by their first rows. ffmpeg converts most of them. */
const OTHER_FORMATS: readonly (readonly [RegExp, string])[] = [
  [/^\{\d+\}\{\d*\}/, 'MicroDVD'],
  [/^\[\d+\]\[\d*\]/, 'MPL2'],
  [/^(?:\[[a-z]+:[^\]]*\]\s*)*\[\d+:\d+(?:[.:]\d+)?\]/i, 'LRC'],
  [/^\[INFORMATION\]|^\d+:\d+:\d+[.:]\d+,\d+:\d+:\d+[.:]\d+\s*$/m, 'SubViewer'],
  [/^<sami\b/i, 'SAMI'],
  [/^(?:<\?xml[^>]*>\s*)?<(?:\w+:)?tt\b/i, 'TTML'],
  [/^Scenarist_SCC/, 'SCC'],
];

/** Rows of a file of ASS that may come before its first section. */
const ASS_COMMENTS = /^(?:\s*(?:;|!:)[^\r\n]*[\r\n]+)*\s*/;

/**
 * Returns the format of a text: by its first rows, else by its name. @throws SubtitleError for another format, and if the
 * content contradicts the name
 */
function formatOf(text: string, name: string): SubtitleFormat {
  const head = text.slice(0, 4096).trimStart();
  if (/^WEBVTT(?:\s|$)/.test(head)) return 'vtt';
  if (/^\[(?:Script Info|V4\+? Styles|Events)\]/i.test(head.replace(ASS_COMMENTS, ''))) return 'ass';
  const [first = ''] = head.split(/\r\n|\r|\n/, 1);
  const other = OTHER_FORMATS.find(([pattern]) => pattern.test(head));
  if (other !== undefined && !/^\d+\s*$/.test(first)) {
    const how = `convert it to SRT with Subtitle Edit or \`ffmpeg -i ${basename(name)} converted.srt\``;
    throw new SubtitleError(`the file is ${other[1]}, which vloc does not read; ${how}`, 0);
  }
  const ending = SUBTITLE_NAME.exec(name)?.[1]?.toLowerCase();
  if (ending === 'vtt' || ending === 'webvtt') throw new SubtitleError('a WebVTT file begins with WEBVTT', 1);
  if (ending === 'ass' || ending === 'ssa') throw new SubtitleError('the file has no [Events] section', 0);
  return 'srt';
}

/** The cues that are shown, in order of time. @throws SubtitleError for the first row that cannot be read */
function shownCues({ cues, faults, format }: ScannedText): ReadCue[] {
  const shown = cues.filter(({ text }) => stripMarkup(text) !== '');
  const reversed = shown.find(({ start_ms, end_ms }) => end_ms <= start_ms);
  const backwards = reversed === undefined ? [] : [{ row: reversed.row, message: ENDS_BEFORE_START }];
  const [fault] = [...faults, ...backwards].toSorted((left, right) => left.row - right.row);
  if (fault !== undefined) throw new SubtitleError(fault.message, fault.row);
  if (shown.length > MOST_CUES) throw new SubtitleError(`more than ${MOST_CUES} subtitle lines`, 0);
  const read = shown
    .map((cue): Omit<ReadCue, 'line'> & { readonly line: Omit<SpokenLine, 'index'> } => {
      const { start_ms, end_ms, speaker } = cue;
      const line = { start_ms, end_ms, text: normalizeCueText(cue.text) };
      return { line: speaker === undefined ? line : { ...line, speaker }, words: wordsOf(cue, format), cue };
    })
    .sort((left, right) => left.line.start_ms - right.line.start_ms);
  const single = unrollCaptions(read.map(({ line }) => line));
  const all = single?.map((line) => ({ line, words: line.text, cue: null })) ?? read;
  const numbered = all.map((each, position) => ({ ...each, line: { index: position + 1, ...each.line } }));
  if (numbered.length === 0) throw new SubtitleError('the file has no subtitles', 0);
  for (const { line, cue } of numbered) {
    const row = cue?.row ?? 0;
    if (isLongerThan(LIMITS.lineCharacters, line.text))
      throw new SubtitleError(`the cue has more than ${LIMITS.lineCharacters} characters`, row);
    if (line.end_ms > LIMITS.lineEndMs) throw new SubtitleError('the cue ends after 1000 hours', row);
  }
  return numbered;
}

/** The words of a cue without what surrounds all of them; empty if there is nothing to speak or translate. */
function wordsOf(cue: ScannedCue, format: SubtitleFormat): string {
  const words = textInside(cue, format);
  return hasWords(stripMarkup(words)) ? words : '';
}

/** The text of a cue without what surrounds all of it in the file. */
export function textInside({ written }: Pick<ScannedCue, 'written'>, format: SubtitleFormat): string {
  const cores = splitParts(written, format).map(({ core }) => CUE_TEXT[format].decode(core));
  return normalizeCueText(cores.join('\n'));
}

type Found = Omit<ScannedCue, 'number'> | SubtitleFault;

const SCANNERS: Record<SubtitleFormat, (text: string) => Iterable<Found>> = {
  srt: scanSrtCues,
  vtt: scanVtt,
  ass: scanAss,
};

function splitRows(text: string): string[] {
  return text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
}

function* scanSrtCues(text: string): Generator<Found> {
  for (const found of scanSrt(text)) {
    if ('message' in found) {
      yield found;
      continue;
    }
    const { row, firstRow, start_ms, end_ms, rows, isTight } = found;
    yield { row, start_ms, end_ms, ...writtenText('srt', rows), ...(isTight ? { tightRow: firstRow } : {}) };
  }
}

function writtenText(format: 'srt' | 'vtt', rows: readonly string[]) {
  const written = rows.join('\n');
  return { written, text: CUE_TEXT[format].decode(written), place: { textRows: rows.length } };
}

/** Times are at the beginning of their row; its settings may be of any length. */
const LONGEST_TIMES = 1_000;

export const TIME = String.raw`(?:(\d{1,9}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})(?!\d)`;
/** The times of a cue in WebVTT, which may lack the hours, and its settings. */
const TIMES = new RegExp(String.raw`^\s*${TIME}\s*-->\s*${TIME}`);

/** Start and end in milliseconds, or why a row has no times. */
function readTimes(row: string): { readonly start_ms: number; readonly end_ms: number } | string {
  const times = TIMES.exec(row.slice(0, LONGEST_TIMES));
  if (times === null) return `expected times such as 00:01.000 --> 00:02.500, found "${excerpt(row)}"`;
  const [start_ms, end_ms] = [toMilliseconds(times, 1), toMilliseconds(times, 5)];
  if (start_ms === null || end_ms === null) return `minutes and seconds end at 59, found "${excerpt(row)}"`;
  return { start_ms, end_ms };
}

/**
 * Null if minutes or seconds are over 59.
 * @param at the group with the hours; the fraction has up to three digits
 */
function toMilliseconds(times: RegExpExecArray, at: number): number | null {
  const [hours = 0, minutes = 0, seconds = 0] = [times[at] ?? 0, times[at + 1], times[at + 2]].map(Number);
  if (minutes > 59 || seconds > 59) return null;
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + Number((times[at + 3] ?? '').padEnd(3, '0'));
}

const NO_CUE = /^(?:NOTE|STYLE|REGION)(?:\s|$)/;

/**
 * Scans WebVTT: a cue ends at the next empty row, or at the times of the next one. What follows times that cannot be read belongs to
 * them. Source: W3C, WebVTT, "Syntax" and "WebVTT parser".
 */
function* scanVtt(text: string): Generator<Found> {
  const rows = splitRows(text);
  const isTimes = (at: number) => rows[at]?.includes('-->') === true;
  /** The first row from here that ends a block. */
  const endOf = (from: number) => {
    let at = from;
    while (at < rows.length && rows[at] !== '' && !isTimes(at)) at += 1;
    return at;
  };
  let at = endOf(1);
  while (at < rows.length) {
    if (rows[at] === '') {
      at += 1;
      continue;
    }
    const row = rows[at] ?? '';
    // An identifier may precede the times.
    const place = isTimes(at) ? at : at + 1;
    const end = endOf(place + 1);
    if (!isTimes(place)) {
      if (!NO_CUE.test(row) && row.trim() !== '')
        yield {
          row: at + 1,
          message: `expected times such as 00:01.000 --> 00:02.500, found "${excerpt(row)}"`,
        };
      at = endOf(at + 1);
      continue;
    }
    const times = readTimes(rows[place] ?? '');
    if (typeof times === 'string') yield { row: place + 1, message: times };
    else {
      const cue = writtenText('vtt', rows.slice(place + 1, end));
      const unclosed = rows.slice(place + 1, end).findLastIndex((own) => own.includes('<'));
      const [tag] = UNCLOSED.exec(cue.written) ?? [];
      if (tag !== undefined && hasWords(tag.replace(UNCLOSED_NAME, '')))
        yield {
          row: place + 2 + unclosed,
          message: `a tag has no ">", so players hide "${excerpt(tag)}"; a "<" is written &lt;`,
        };
      yield { row: place + 1, ...times, ...cue, ...speakerOf(namesInVtt(cue.written)) };
    }
    at = end;
  }
}

/** A tag that does not end before the next one, and what players take for its name. */
const UNCLOSED = /<\/?[a-z0-9][^<>]*(?=<|$)/i;
const UNCLOSED_NAME = /^<[/a-z0-9.:]*/i;

/** The names of `<v Anna>` or `<v.loud Anna>`. Source: W3C, WebVTT, "Voice span". */
function namesInVtt(text: string): string[] {
  return [...text.matchAll(/<v(?:\.[^<>\s]{1,100})?\s+([^<>]{1,200})>/g)].map(([, name = '']) =>
    decodeReferences(name),
  );
}

/** The only name, on one row. */
function speakerOf(names: readonly string[]): { readonly speaker?: string } {
  const different = new Set(names.flatMap((name) => cleanSpeaker(name) ?? []));
  const [speaker] = different;
  return speaker === undefined || different.size > 1 ? {} : { speaker };
}

/** The columns of every version 4+ file. Source: Aegisub manual, "ASS file format". */
const COLUMNS = ['layer', 'start', 'end', 'style', 'name', 'marginl', 'marginr', 'marginv', 'effect', 'text'];
/** Tools that shift times write negative ones, which players show from the beginning. */
const ASS_TIME = /^\s*(-?)(\d{1,3}):(\d{1,2}):(\d{1,2})(?:[.:](\d{1,3}))?\s*$/;

/** More than any version of the format has. */
const MOST_COLUMNS = 100;

/** Longer rows are not readable text. */
const LONGEST_ROW = 20_000;

/** Scans the dialogue of ASS and SSA. Styles are skipped. */
function* scanAss(text: string): Generator<Found> {
  let columns: readonly string[] = COLUMNS;
  let isEvents = false;
  for (const [at, row] of splitRows(text).entries()) {
    if (/^\s*\[/.test(row)) isEvents = /^\s*\[Events\]/i.test(row);
    if (!isEvents) continue;
    if (row.length > LONGEST_ROW) {
      yield { row: at + 1, message: `the row has ${row.length} characters, more than ${LONGEST_ROW}` };
      continue;
    }
    const format = /^\s*Format\s{0,8}:(.*)/i.exec(row)?.[1];
    if (format !== undefined)
      columns = format.split(',', MOST_COLUMNS).map((name) => name.trim().toLowerCase());
    const cells = splitDialogue(row, columns)?.cells;
    if (cells === undefined) continue;
    const cell = (name: string) => cells[columns.indexOf(name)] ?? '';
    const [start_ms, end_ms] = [readAssTime(cell('start')), readAssTime(cell('end'))];
    if (start_ms === null || end_ms === null) {
      const found = `${cell('start').trim()},${cell('end').trim()}`;
      yield {
        row: at + 1,
        message: `expected times such as 0:00:01.00,0:00:02.50, found "${excerpt(found)}"`,
      };
      continue;
    }
    const written = cell('text');
    // SSA, the older format, calls the column Actor or Name.
    const name = cell('name') || cell('actor');
    const cue = {
      row: at + 1,
      start_ms,
      end_ms,
      written,
      text: CUE_TEXT.ass.decode(written),
      place: { columns },
    };
    yield { ...cue, ...speakerOf([name]) };
  }
}

function readAssTime(cell: string): number | null {
  const time = ASS_TIME.exec(cell);
  const ms = time === null ? null : toMilliseconds(time, 2);
  return ms !== null && time?.[1] === '-' ? 0 : ms;
}

/** Splits a dialogue row into what precedes its cells, and its cells. The last one is the text, which may contain commas. */
export function splitDialogue(
  row: string,
  { length }: readonly string[],
): { readonly head: string; readonly cells: readonly string[] } | null {
  const [, head, rest] = /^(\s*Dialogue\s{0,8}:)(.*)/is.exec(row) ?? [];
  if (head === undefined || rest === undefined) return null;
  const cells = rest.split(',');
  return { head, cells: [...cells.slice(0, length - 1), cells.slice(length - 1).join(',')] };
}

/**
 * Reads a subtitle track of a video.
 * @param stream ffmpeg's specifier of the track: `0:s:0` is the first one, `0:3` is the stream with index 3
 * @throws ChildFailure, ProgramMissing, or SubtitleError
 */
export async function readSubtitleTrack(
  programs: Programs,
  video: string,
  stream: string,
  run: EngineRun,
): Promise<SubtitleLine[]> {
  const output = ['-map', stream, '-c:s', 'srt', '-f', 'srt', 'pipe:1'];
  const args = [...QUIET, ...convertibleInput(video), ...output];
  const srt = (await programs.run('ffmpeg', args, { ...run, limits: DECODER_LIMITS })).toString('utf8');
  return srt.trim() === '' ? [] : parseSrt(srt, MOST_CUES);
}

/**
 * Returns the lines of the first subtitle track; none if the video has no track or the track is not text.
 * @throws ProgramMissing
 */
export function readSoftSubtitles(
  programs: Programs,
  video: string,
  run: EngineRun,
): Promise<SubtitleLine[]> {
  return readSubtitleTrack(programs, video, '0:s:0', run).catch((error: unknown) => {
    if (error instanceof ChildFailure || error instanceof SubtitleError) return [];
    throw error;
  });
}
