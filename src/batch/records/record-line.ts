/**
 * One record, one line: checksum, tab, JSON. Source: design, "What is learnt from the best" (the index of cacache). The
 * lines of a journal are numbered, so that one that is gone leaves a gap.
 */

import { hash } from 'node:crypto';

/** What a record is beyond its type is known to those who wrote it; records of types unknown here are kept. */
export interface LogRecord {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A place that is not as it was written. */
export interface Damage {
  /** `line`: its checksum does not fit; `missing`: lines are gone before it; `head`: the number of lines is not known. */
  readonly kind: 'line' | 'missing' | 'head';
  /** Where it begins, in bytes from the beginning of the file. */
  readonly offset: number;
  /** Bytes of the file that are lost, the end of the line among them. */
  readonly length: number;
}

export interface LogContent {
  /** All records that are whole, in the order in which they were written. */
  readonly records: readonly LogRecord[];
  readonly damage: readonly Damage[];
  /** Bytes after the last whole line: a record whose writing was cut off, and so was never acknowledged. */
  readonly torn: number;
  /** The number of the last line that has one; 0 if none has. */
  readonly last: number;
}

/** What a log's own count says of its last line; see `log-file.ts`. */
export type Head =
  /** There is no count: the log is of an earlier version, or new. */
  | { readonly state: 'none' }
  | { readonly state: 'unreadable' }
  /** At least so many lines were written. */
  | { readonly state: 'known'; readonly last: number };

/** 64 bits of SHA-256: a torn or rotten line passes for a whole one once in 10^19 times. */
const CHECKSUM_LENGTH = 16;
const LINE_FEED = 0x0a;

function checksumOf(json: string | Buffer): string {
  return hash('sha256', json).slice(0, CHECKSUM_LENGTH);
}

/** The first line of a rewritten log: the lines before it were removed on purpose. */
const START: LogRecord = { type: 'log_start' };

/**
 * The lines of records with their line feeds, which JSON never contains.
 * @param first number of the first of them; omitted: the lines have none
 */
export function encodeRecords(records: readonly LogRecord[], first?: number): Buffer {
  return Buffer.from(
    records.map((record, place) => encodeRecord(record, first === undefined ? null : first + place)).join(''),
  );
}

/** A whole log whose first line has that number. */
export function encodeLog(records: readonly LogRecord[], first: number): Buffer {
  return encodeRecords([START, ...records], first);
}

function encodeRecord(record: LogRecord, number: number | null): string {
  const own = JSON.stringify(record);
  // As text, since names that are digits come first in any object.
  const json = number === null ? own : `{"seq":${number},${own.slice(1)}`;
  return `${checksumOf(json)}\t${json}\n`;
}

/**
 * Reads all lines that are whole; never throws, whatever the bytes.
 * @param head the count that is kept beside the log; omitted for logs without one
 */
export function decodeLog(bytes: Buffer, head?: Head): LogContent {
  const records: LogRecord[] = [];
  const damage: Damage[] = [];
  const order = createOrder();
  let end = 0;
  for (const { offset, length, line } of readLines(bytes)) {
    end = offset + length;
    if (line === null) damage.push({ kind: 'line', offset, length });
    if (!order.take(line, offset === 0)) damage.push({ kind: 'missing', offset, length: 0 });
    if (line !== null && line.record.type !== START.type) records.push(line.record);
  }
  const torn = bytes.length - end;
  if (head !== undefined) damage.push(...damageOfEnd(head, order, end, torn));
  return { records, damage, torn, last: order.last() };
}

type Order = ReturnType<typeof createOrder>;

/** Follows the numbers of lines; lines of earlier versions have none, and come before all others or in between. */
function createOrder() {
  let last = 0;
  let isSure = true;
  return {
    last: () => last,
    /** False once lines with unknown numbers are missing. */
    isSure: () => isSure,
    /** False when lines before it are missing. */
    take(line: Line | null, isFirst: boolean): boolean {
      if (line === null) {
        isSure = false;
        return true;
      }
      const { number, record } = line;
      if (number === null) return true;
      const isStart = isFirst && record.type === START.type;
      const isNext = isSure ? number === last + 1 : number > last;
      last = Math.max(last, number);
      isSure = true;
      return isStart || isNext;
    },
  };
}

/** Lines missing from the end, which only the count shows. */
function damageOfEnd(head: Head, order: Order, end: number, torn: number): Damage[] {
  const isNumbered = order.last() > 0;
  switch (head.state) {
    case 'unreadable':
      return [{ kind: 'head', offset: 0, length: 0 }];
    case 'none':
      if (isNumbered) return [{ kind: 'head', offset: 0, length: 0 }];
      // A log without a count: an unfinished record looks the same as a truncated one.
      return torn > 0 ? [{ kind: 'line', offset: end, length: torn }] : [];
    case 'known':
      // Behind a damaged line nothing more is known to be gone.
      return head.last > order.last() && order.isSure()
        ? [{ kind: 'missing', offset: end, length: torn }]
        : [];
  }
}

/** The whole records one by one, for callers that do not need all of them in memory. */
export function* decodeRecords(bytes: Buffer): Iterable<LogRecord> {
  for (const { line } of readLines(bytes)) {
    if (line !== null && line.record.type !== START.type) yield line.record;
  }
}

interface Line {
  readonly record: LogRecord;
  /** Null for a line without one. */
  readonly number: number | null;
}

interface Place {
  readonly offset: number;
  readonly length: number;
  /** Null when it is damaged. */
  readonly line: Line | null;
}

function* readLines(bytes: Buffer): Iterable<Place> {
  for (let offset = 0; ; ) {
    const end = bytes.indexOf(LINE_FEED, offset);
    if (end < 0) return;
    yield { offset, length: end + 1 - offset, line: decodeLine(bytes.subarray(offset, end)) };
    offset = end + 1;
  }
}

/** How the JSON of a numbered line begins; up to 15 digits are exact. */
const NUMBER = /^\{"seq":(\d{1,15}),/;

function decodeLine(line: Buffer): Line | null {
  const bytes = line.subarray(CHECKSUM_LENGTH + 1);
  if (line.toString('latin1', 0, CHECKSUM_LENGTH + 1) !== `${checksumOf(bytes)}\t`) return null;
  const json = bytes.toString();
  const [begin, number] = NUMBER.exec(json) ?? [];
  // The number is the line's, not the record's.
  const value = parseJson(begin === undefined ? json : `{${json.slice(begin.length)}`);
  return isRecord(value) ? { record: value, number: number === undefined ? null : Number(number) } : null;
}

/** Undefined if the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is LogRecord {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** A sentence for each damaged place: where, and what is lost. */
export function describeDamage(path: string, damage: readonly Damage[]): string[] {
  return damage.map((place) => `${path} is damaged${describePlace(place)}`);
}

function describePlace({ kind, offset, length }: Damage): string {
  switch (kind) {
    case 'line':
      return ` at byte ${offset}: a record of ${length} bytes is lost, all others are kept`;
    case 'missing':
      return ` at byte ${offset}: records are missing there, all others are kept`;
    case 'head':
      return ': the count of its records is lost, so the newest may be missing';
  }
}

/** Addresses may carry secrets: a signed query, a password. Records keep the address without them. */

/** Removes query, fragment and user from every web address in the fields, at any depth. */
export function withoutSecrets(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, strip(value)]));
}

function strip(value: unknown): unknown {
  if (typeof value === 'string') return stripAddress(value);
  if (Array.isArray(value)) return value.map(strip);
  return typeof value === 'object' && value !== null ? withoutSecrets({ ...value }) : value;
}

/** A single address without its secrets; other text as it is. */
export function stripAddress(text: string): string {
  if (!/^\s*https?:/i.test(text)) return text;
  if (!URL.canParse(text)) return text.replace(/[?#].*$/s, '');
  const url = new URL(text);
  return `${url.protocol}//${url.host}${url.pathname}`;
}
