/** Structured subtitle lines in JSON: an array, one object a line, or what `jobs get --output json` prints. */
import { LIMITS } from '../../protocol/limits.ts';
import { checkLines } from '../../protocol/requests.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';

/** Blanks and a byte order mark may stand before the first bracket. */
const HEAD_BYTES = 64;

/** True for what begins as JSON; no SRT does, and behind the first bracket of an ASS file stands a word. */
export function looksLikeJson(bytes: Uint8Array): boolean {
  return /^\uFEFF?\s*(?:\{|\[\s*(?:[^\sA-Za-z]|$))/.test(
    Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('utf8'),
  );
}

/** The lines, at most so many, or why they are not usable. */
export function parseJsonLines(
  bytes: Uint8Array,
  most: number = LIMITS.subtitleLines,
): readonly SubtitleLine[] | string {
  const text = Buffer.from(bytes)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  const document = parseDocument(text);
  if (document.type === 'fault') return `looks like JSON but is none: ${document.why}`;
  const checked = checkLines(linesIn(document.value), most);
  if (checked.ok) return checked.value;
  const [first] = checked.errors;
  return `not a list of subtitle lines: ${first?.pointer ?? ''} ${first?.detail ?? ''}`;
}

type Parsed =
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'fault'; readonly why: string };

/** One document, or else one object a line. */
function parseDocument(text: string): Parsed {
  const whole = parse(text);
  if (whole.type === 'value') return whole;
  const rows = text.split('\n').flatMap((row) => (row.trim() === '' ? [] : [parse(row)]));
  const values = rows.flatMap((row) => (row.type === 'value' ? [row.value] : []));
  return values.length === rows.length && rows.length > 1 ? { type: 'value', value: values } : whole;
}

function parse(text: string): Parsed {
  try {
    return { type: 'value', value: JSON.parse(text) };
  } catch (error) {
    return { type: 'fault', why: error instanceof Error ? error.message : String(error) };
  }
}

/** The array itself, that of a member `lines`, or that of a job's result. A single object is a single line. */
function linesIn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if ('lines' in value) return value.lines;
  return 'result' in value && value.result !== null ? linesIn(value.result) : [value];
}
