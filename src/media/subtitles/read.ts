/**
 * Reads SRT, WebVTT and ASS files. They are untrusted: each is read in one pass over its rows, so that the cost of a hostile
 * file depends only on its size.
 */

import { LIMITS } from '../../protocol/limits.ts';
import { normalizeCueText, parseSrt, SubtitleError } from '../../protocol/srt.ts';
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
import { stripMarkup } from './text.ts';

const MOST_CUES = 10 * LIMITS.subtitleLines;

/** A cue as it is in a file, which may be too broken to be sent. */
export interface ScannedCue {
  /** Number of the cue, from 1. */
  readonly number: number;
  /** Row of the times in the file, from 1; null if the cue does not come from a file with rows. */
  readonly row: number | null;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly text: string;
  /** Who speaks; absent if the file does not say, or names several. */
  readonly speaker?: string;
  /** Where the text is: rows after that of the times, or the cells of an ASS row, of which these are the columns. */
  readonly place: { readonly textRows: number } | { readonly columns: readonly string[] };
}

/** File extensions of the formats. */
const FORMAT_OF_NAME = /\.(srt|vtt|webvtt|ass|ssa)$/i;

/**
 * Reads SRT, WebVTT and ASS or SSA. Detects the format by content first, then by name. Returns cues in order of time,
 * numbered from 1. Skips styles, comments, drawings and cues without text. Does not check the service's limit on lines.
 * @throws PreparationFailure SUBTITLE_INVALID
 */
export function readSubtitleFile(bytes: Uint8Array, name: string): SubtitleLine[] {
  return withoutSpeakers(readSpokenFile(bytes, name)).lines;
}

/** The same with the speakers; SRT has no place for them. @throws PreparationFailure SUBTITLE_INVALID */
export function readSpokenFile(bytes: Uint8Array, name: string): SpokenLine[] {
  if (bytes.length >= LIMITS.subtitleBytes) {
    throw invalidSubtitleFailure(
      name,
      `it has ${bytes.length} bytes, the limit is below ${LIMITS.subtitleBytes}`,
    );
  }
  try {
    const text = decodeText(bytes);
    const format = formatOf(text, name);
    if (format === 'srt') return parseSrt(text, MOST_CUES);
    return toLines(SCANNERS[format](text));
  } catch (error) {
    if (error instanceof SubtitleError) throw invalidSubtitleFailure(name, error.message, error);
    throw error;
  }
}

function invalidSubtitleFailure(name: string, message: string, cause?: Error): PreparationFailure {
  const advice = 'fix it in a subtitle editor; formats are SRT, WebVTT and ASS in UTF-8';
  return new PreparationFailure('SUBTITLE_INVALID', `${name}: ${message}`, advice, { cause });
}

/** Scans a file of any format, also one that cannot be sent. @throws SubtitleError */
export function scanSubtitle(bytes: Uint8Array, name: string): ScannedCue[] {
  return scanText(bytes, name).cues;
}

/** A file as text, with its format and its cues. */
export interface ScannedText {
  /** Without the byte order mark. */
  readonly text: string;
  readonly format: SubtitleFormat;
  readonly cues: ScannedCue[];
}

/** The same with the text. @throws SubtitleError */
export function scanText(bytes: Uint8Array, name: string): ScannedText {
  const text = decodeText(bytes);
  const format = formatOf(text, name);
  return { text, format, cues: scanCues(text, format) };
}

/** The cues of a text whose format is known. @throws SubtitleError */
export function scanCues(text: string, format: SubtitleFormat): ScannedCue[] {
  return SCANNERS[format](text);
}

/** Decodes strict UTF-8, or UTF-16 with a byte order mark, which Windows editors write. */
function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
  } catch {
    throw new SubtitleError('the file is not UTF-8; save it as UTF-8 and try again', 0);
  }
}

function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
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

/**
 * Returns the format of a text: by its first words, else by its name. @throws SubtitleError if the content contradicts
 * the name
 */
function formatOf(text: string, name: string): SubtitleFormat {
  const head = text.slice(0, 4096).trimStart();
  if (/^WEBVTT(?:\s|$)/.test(head)) return 'vtt';
  if (/^\[(?:Script Info|V4\+? Styles|Events)\]/im.test(head)) return 'ass';
  const ending = FORMAT_OF_NAME.exec(name)?.[1]?.toLowerCase();
  if (ending === 'vtt' || ending === 'webvtt') throw new SubtitleError('a WebVTT file begins with WEBVTT', 1);
  if (ending === 'ass' || ending === 'ssa') throw new SubtitleError('the file has no [Events] section', 0);
  return 'srt';
}

function toLines(cues: readonly ScannedCue[]): SpokenLine[] {
  if (cues.length > MOST_CUES) throw new SubtitleError(`more than ${MOST_CUES} subtitle lines`, 0);
  const lines = cues
    .map(({ start_ms, end_ms, text, speaker }) => ({
      ...{ start_ms, end_ms, text: normalizeCueText(text) },
      ...(speaker === undefined ? {} : { speaker }),
    }))
    .filter(({ text, start_ms, end_ms }) => stripMarkup(text) !== '' && end_ms > start_ms)
    .sort((left, right) => left.start_ms - right.start_ms)
    .map((line, position) => ({ index: position + 1, ...line }));
  if (lines.length === 0) throw new SubtitleError('the file has no subtitles', 0);
  for (const { index, text, end_ms } of lines) {
    if (isLongerThan(LIMITS.lineCharacters, text))
      throw new SubtitleError(`cue ${index} has more than ${LIMITS.lineCharacters} characters`, 0);
    if (end_ms > LIMITS.lineEndMs) throw new SubtitleError(`cue ${index} ends after 1000 hours`, 0);
  }
  return lines;
}

const SCANNERS: Record<SubtitleFormat, (text: string) => ScannedCue[]> = {
  srt: scanSrt,
  vtt: scanVtt,
  ass: scanAss,
};

/** Longer rows cannot be times, so patterns are not tried on them. */
const LONGEST_TIMES = 1_000;

export const TIME = String.raw`(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})`;
/** The times of a cue in SRT and WebVTT, which may lack the hours, and its settings. */
const TIMES = new RegExp(String.raw`^\s*${TIME}\s*-->\s*${TIME}(?:\s.*)?$`);

/** Returns start and end in milliseconds, or null if a row has no times. */
function readTimes(row: string): { readonly start: number; readonly end: number } | null {
  const times = row.length > LONGEST_TIMES ? null : TIMES.exec(row);
  return times === null ? null : { start: toMilliseconds(times, 1), end: toMilliseconds(times, 5) };
}

/** @param at the group with the hours; the fraction has up to three digits */
function toMilliseconds(times: RegExpExecArray, at: number): number {
  const [hours, minutes, seconds] = [times[at] ?? 0, times[at + 1], times[at + 2]].map(Number);
  const whole = ((hours ?? 0) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0);
  return whole * 1000 + Number((times[at + 3] ?? '').padEnd(3, '0'));
}

function splitRows(text: string): string[] {
  return text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
}

interface OpenCue {
  readonly row: number;
  readonly start: number;
  readonly end: number;
  readonly text: string[];
}

/** Scans SRT: a cue ends before the number of the next cue, because a blank row may be missing or too much. */
export function scanSrt(text: string): ScannedCue[] {
  const cues: ScannedCue[] = [];
  let open: OpenCue | null = null;
  const close = (isFollowed: boolean) => {
    if (open === null) return;
    const { row, start, end, text: content } = open;
    const popBlanks = () => {
      while (content.at(-1)?.trim() === '') content.pop();
    };
    popBlanks();
    if (isFollowed && /^\s*\d+\s*$/.test(content.at(-1) ?? '')) content.pop();
    popBlanks();
    const place = { textRows: content.length };
    cues.push({
      number: cues.length + 1,
      row,
      start_ms: start,
      end_ms: end,
      text: plainText.srt(content.join('\n')),
      place,
    });
  };
  for (const [at, row] of splitRows(text).entries()) {
    const times = readTimes(row);
    if (times === null) {
      open?.text.push(row);
      continue;
    }
    close(true);
    open = { row: at + 1, ...times, text: [] };
  }
  close(false);
  return cues;
}

/** The text of a cue as it is written in a file of each format, rows separated by `\n`, without what is not shown. */
export const plainText: Record<SubtitleFormat, (written: string) => string> = {
  srt: trimRows,
  vtt: (written) => unescapeVtt(stripVoices(trimRows(written))),
  ass: (written) => plainAssText(written).trim(),
};

function trimRows(text: string): string {
  return text
    .split('\n')
    .map((row) => row.trim())
    .join('\n')
    .trim();
}

/** Scans WebVTT: a cue ends at the next blank row after its times. Source: W3C, WebVTT, "Syntax". */
function scanVtt(text: string): ScannedCue[] {
  const cues: ScannedCue[] = [];
  let open: OpenCue | null = null;
  const close = () => {
    if (open === null) return;
    const { row, start, end, text: content } = open;
    const place = { textRows: content.length };
    const marked = content.join('\n');
    const cue = {
      number: cues.length + 1,
      row,
      start_ms: start,
      end_ms: end,
      text: plainText.vtt(marked),
      place,
    };
    cues.push({ ...cue, ...speakerOf(namesInVtt(marked)) });
    open = null;
  };
  for (const [at, row] of splitRows(text).entries()) {
    const times = readTimes(row);
    if (times !== null) {
      close();
      open = { row: at + 1, ...times, text: [] };
    } else if (row.trim() === '') close();
    else open?.text.push(row);
  }
  close();
  return cues;
}

/** The names of `<v Anna>` or `<v.loud Anna>`. Source: W3C, WebVTT, "Voice span". */
function namesInVtt(text: string): string[] {
  return [...text.matchAll(/<v(?:\.[^<>\s]{1,100})?\s+([^<>]{1,200})>/g)].map(([, name = '']) =>
    unescapeVtt(name),
  );
}

/** The only name, on one row. */
function speakerOf(names: readonly string[]): { readonly speaker?: string } {
  const different = new Set(names.flatMap((name) => cleanSpeaker(name) ?? []));
  const [speaker] = different;
  return speaker === undefined || different.size > 1 ? {} : { speaker };
}

/** Tags for speakers, classes, languages and times exist only in WebVTT. `<b>`, `<i>` and `<u>` also exist in SRT. */
function stripVoices(text: string): string {
  return text.replace(/<(?!\/?[biu]>)\/?[a-z0-9][^<>]{0,200}>/gi, '');
}

const NAMED: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&nbsp;': '\u00A0',
  '&lrm;': '\u200E',
  '&rlm;': '\u200F',
};

function unescapeVtt(text: string): string {
  return text.replace(/&(?:amp|lt|gt|nbsp|lrm|rlm);/g, (found) => NAMED[found] ?? found);
}

/** The columns of every version 4+ file. Source: Aegisub manual, "ASS file format". */
const COLUMNS = ['layer', 'start', 'end', 'style', 'name', 'marginl', 'marginr', 'marginv', 'effect', 'text'];
const ASS_TIME = /^\s*(\d{1,3}):(\d{1,2}):(\d{1,2})(?:[.:](\d{1,3}))?\s*$/;

/** Longer rows are not readable text. */
const LONGEST_ROW = 20_000;

/**
 * Scans the dialogue of ASS and SSA. Styles and override tags are skipped. Returns the cues in order of time, because the
 * rows of a file may be in any order.
 * @throws SubtitleError for a row that is too long
 */
function scanAss(text: string): ScannedCue[] {
  let columns: readonly string[] = COLUMNS;
  let isEvents = false;
  const cues: Omit<ScannedCue, 'number'>[] = [];
  for (const [at, row] of splitRows(text).entries()) {
    if (row.length > LONGEST_ROW)
      throw new SubtitleError(`the row has ${row.length} characters, more than ${LONGEST_ROW}`, at + 1);
    if (/^\s*\[/.test(row)) isEvents = /^\s*\[Events\]/i.test(row);
    if (!isEvents) continue;
    const format = /^\s*Format\s{0,8}:(.*)/i.exec(row)?.[1];
    if (format !== undefined) columns = format.split(',').map((name) => name.trim().toLowerCase());
    const cells = splitDialogue(row, columns)?.cells;
    if (cells === undefined) continue;
    const cell = (name: string) => cells[columns.indexOf(name)] ?? '';
    const [start, end] = [ASS_TIME.exec(cell('start')), ASS_TIME.exec(cell('end'))];
    if (start === null || end === null) continue;
    const [start_ms, end_ms] = [toMilliseconds(start, 1), toMilliseconds(end, 1)];
    // SSA, the older format, calls the column Actor or Name.
    const name = cell('name') || cell('actor');
    const cue = { row: at + 1, start_ms, end_ms, text: plainText.ass(cell('text')), place: { columns } };
    cues.push({ ...cue, ...speakerOf([name]) });
  }
  return cues
    .sort((left, right) => left.start_ms - right.start_ms)
    .map((cue, position) => ({ number: position + 1, ...cue }));
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

/** An override block in braces. An opening brace without a closing one in the same row is text. */
const BRACES = /\{[^{}\n]*\}|\{/g;
/** Switches drawing mode on and off: the text in between is a shape. */
const DRAWING = /\\p(\d)/;

/**
 * Returns the text of a dialogue row without override tags and drawings. `\N` and `\n` are line breaks, `\h` is a
 * non-breaking space. Source: Aegisub manual, "ASS override tags".
 */
function plainAssText(text: string): string {
  let plain = '';
  let from = 0;
  let isDrawing = false;
  for (const { 0: found, index } of text.matchAll(BRACES)) {
    // A full-width brace, which other tools also write for a brace in text.
    if (!isDrawing) plain += text.slice(from, index) + (found === '{' ? '\uFF5B' : '');
    const drawing = DRAWING.exec(found);
    if (drawing !== null) isDrawing = drawing[1] !== '0';
    from = index + found.length;
  }
  if (!isDrawing) plain += text.slice(from);
  return plain.replace(/\\N/gi, '\n').replaceAll('\\h', '\u00A0');
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
