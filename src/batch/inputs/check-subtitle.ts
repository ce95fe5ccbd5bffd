/** Reads and checks subtitles before anything is sent. Source: specification, "Limits". */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { formatBytes } from '../../base/amounts.ts';
import { parseJson } from '../../base/json.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { checkLines } from '../../protocol/requests.ts';
import { decodeSrt, SubtitleError } from '../../protocol/srt.ts';
import { cleanSpeaker, type SpokenLine, withoutSpeakers } from '../../protocol/subtitle-line.ts';
import type { CheckedInput, JobInput } from '../input.ts';
import { describeBilingual } from './bilingual-name.ts';
import type { Candidate } from './candidate.ts';
import { readVideoType } from './content.ts';
import { statReadable } from './file-status.ts';
import type { PlanIo, SubtitleContent } from './plan-request.ts';

/** SRT, WebVTT or ASS; lines as JSON only if the user named the file, since many folders contain other JSON files. */
export async function checkSubtitle(
  { path, label, name, isNamed }: Candidate & { readonly path: string },
  io: Pick<PlanIo, 'examineLines' | 'readSubtitle'>,
): Promise<CheckedInput> {
  const bilingual = describeBilingual(path);
  if (bilingual !== null) return { type: 'other', detail: bilingual };
  const found = await statReadable(path);
  if (typeof found === 'string') return { type: 'other', detail: found };
  if (found.bytes > 0 && (await readVideoType(path)) !== null)
    return { type: 'other', detail: 'this is a video; `vloc recognize` writes its subtitles' };
  if (found.bytes >= LIMITS.subtitleBytes)
    return {
      type: 'other',
      detail: `${formatBytes(found.bytes)} is over the limit; subtitles are under 10 MiB`,
    };
  const bytes = await readFile(path);
  if (!isNamed && looksLikeJson(bytes))
    return { type: 'other', detail: 'JSON files are used only if named explicitly' };
  const content = await readLines(bytes, path, io);
  if (typeof content === 'string') return { type: 'other', detail: content };
  const sha256 = hash('sha256', bytes);
  const named = { label, stem: subtitleStem(path), name };
  return examine({ type: 'lines', ...named, sha256, file: { path, ...found } }, content, io);
}

/** Subtitles from stdin are named after their content. */
export async function checkStdin(
  io: Pick<PlanIo, 'stdin' | 'examineLines' | 'readSubtitle'>,
): Promise<CheckedInput> {
  const bytes = await buffer(io.stdin);
  if (bytes.length >= LIMITS.subtitleBytes)
    return { type: 'problem', detail: 'stdin is over the limit; subtitles are under 10 MiB' };
  const content = await readLines(bytes, 'stdin', io);
  if (typeof content === 'string') return { type: 'problem', detail: content };
  const sha256 = hash('sha256', bytes);
  const named = { label: 'stdin', stem: 'stdin', name: `stdin:${sha256}` };
  return examine({ type: 'lines', ...named, sha256, file: null, stdin: bytes }, content, io);
}

async function examine(
  input: Omit<JobInput & { readonly type: 'lines' }, 'lines' | 'parts' | 'voices' | 'form'>,
  { lines: spoken, notes, ...own }: SubtitleContent,
  io: Pick<PlanIo, 'examineLines'>,
): Promise<CheckedInput> {
  const { lines, speakers } = withoutSpeakers(spoken);
  const examined = await io.examineLines(lines, speakers);
  if (examined.type === 'problem') return examined;
  const { parts, voices } = examined;
  const named = notes.map((note) => `${input.label}: ${note}`);
  return { type: 'usable', input: { ...input, ...own, lines, parts, voices }, notes: named };
}

/** `talk.en.srt` names its results `talk.es.srt`, not `talk.en.es.srt`. */
export function subtitleStem(path: string): string {
  const stem = basename(path, extname(path));
  const language = subtitleLanguage(path);
  return language === null ? stem : stem.slice(0, -language.length - 1);
}

/** The language in the name of a subtitle, as it is written there: `en` for `talk.en.srt`; null without one. */
export function subtitleLanguage(path: string): string | null {
  const language = extname(basename(path, extname(path))).slice(1);
  return /^[a-z]{2,3}(-[A-Za-z0-9]+)*$/.test(language) ? language : null;
}

/** Maximum size before cutting into parts: ten times the limit of a request. */
const MOST_LINES = 10 * LIMITS.subtitleLines;

async function readLines(
  bytes: Uint8Array,
  name: string,
  { readSubtitle }: Pick<PlanIo, 'readSubtitle'>,
): Promise<SubtitleContent | string> {
  if (!looksLikeJson(bytes) && readSubtitle !== undefined) return readSubtitle(bytes, name);
  const lines = looksLikeJson(bytes) ? parseJsonLines(bytes, MOST_LINES) : parseSubtitle(bytes);
  return typeof lines === 'string' ? lines : { lines, notes: [] };
}

function parseSubtitle(bytes: Uint8Array): readonly SpokenLine[] | string {
  try {
    return decodeSrt(bytes, MOST_LINES);
  } catch (error) {
    if (error instanceof SubtitleError) return `not usable as SRT, ${error.message}`;
    throw error;
  }
}

/** Blanks and a byte order mark may precede the first bracket. */
const HEAD_BYTES = 64;

/** True for text that begins like JSON: other formats have a word or a number after their first bracket or brace. */
export function looksLikeJson(bytes: Uint8Array): boolean {
  return /^\uFEFF?\s*(?:\{\s*(?:["}]|$)|\[\s*(?:[^\sA-Za-z\d]|$))/.test(
    Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('utf8'),
  );
}

/** The lines, at most this many, or why they are not usable. A line may name its `speaker`. */
export function parseJsonLines(
  bytes: Uint8Array,
  most: number = LIMITS.subtitleLines,
): readonly SpokenLine[] | string {
  const document = parseDocument(Buffer.from(bytes).toString('utf8'));
  if (document.type === 'fault') return `is not valid JSON: ${document.why}`;
  const list = linesIn(document.value);
  const named = Array.isArray(list) ? list.map(takeSpeaker) : null;
  const checked = checkLines(named?.map(({ line }) => line) ?? list, most);
  if (checked.ok)
    return checked.value.map((line, at) => {
      const speaker = named?.[at]?.speaker;
      return speaker === undefined ? line : { ...line, speaker };
    });
  const [first] = checked.errors;
  return `not a list of subtitle lines: ${first?.pointer ?? ''} ${first?.detail ?? ''}`;
}

/** A line of a request has no speaker. */
function takeSpeaker(line: unknown): { readonly line: unknown; readonly speaker?: string | undefined } {
  if (typeof line !== 'object' || line === null || !('speaker' in line)) return { line };
  const { speaker, ...rest } = line;
  if (typeof speaker !== 'string' && speaker !== null) return { line };
  return { line: rest, speaker: cleanSpeaker(speaker ?? '') };
}

type Parsed =
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'fault'; readonly why: string };

/** Parses one document, or one object per line. */
function parseDocument(text: string): Parsed {
  const whole = parse(text);
  if (whole.type === 'value') return whole;
  const rows = text.split('\n').flatMap((row) => (row.trim() === '' ? [] : [parse(row)]));
  const values = rows.flatMap((row) => (row.type === 'value' ? [row.value] : []));
  return values.length === rows.length && rows.length > 1 ? { type: 'value', value: values } : whole;
}

function parse(text: string): Parsed {
  try {
    return { type: 'value', value: parseJson(text) };
  } catch (error) {
    return { type: 'fault', why: error instanceof Error ? error.message : String(error) };
  }
}

/** The array itself, its member `lines`, or the lines of a job's result. A single object is a single line. */
function linesIn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if ('lines' in value) return value.lines;
  return 'result' in value && value.result !== null ? linesIn(value.result) : [value];
}
