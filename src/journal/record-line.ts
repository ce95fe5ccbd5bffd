/** One record, one line: checksum, tab, JSON. Source: design, "What is learnt from the best" (the index of cacache). */
import { hash } from 'node:crypto';

/** What a record is beyond its type is known to those who wrote it; records of types unknown here are kept. */
export interface LogRecord {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A line that is not what was written. */
export interface Damage {
  /** Where it begins, in bytes from the beginning of the file. */
  readonly offset: number;
  /** Bytes that are lost, the end of the line among them. */
  readonly length: number;
}

export interface LogContent {
  /** All records that are whole, in the order in which they were written. */
  readonly records: readonly LogRecord[];
  readonly damage: readonly Damage[];
  /** Bytes behind the last whole line: a record whose writing was cut off, and so was never acknowledged. */
  readonly torn: number;
}

/** 64 bits of SHA-256: a torn or rotten line passes for a whole one once in 10^19 times. */
const CHECKSUM_LENGTH = 16;
const LINE_FEED = 0x0a;

function checksumOf(json: string | Buffer): string {
  return hash('sha256', json).slice(0, CHECKSUM_LENGTH);
}

/** The lines of records with their line feeds, which JSON never contains. */
export function encodeRecords(records: readonly LogRecord[]): Buffer {
  return Buffer.from(records.map(encodeRecord).join(''));
}

function encodeRecord(record: LogRecord): string {
  const json = JSON.stringify(record);
  return `${checksumOf(json)}\t${json}\n`;
}

/** Reads all lines that are whole; never throws, whatever the bytes. */
export function decodeLog(bytes: Buffer): LogContent {
  const records: LogRecord[] = [];
  const damage: Damage[] = [];
  let torn = bytes.length;
  for (const { offset, length, record } of readLines(bytes)) {
    if (record === null) damage.push({ offset, length });
    else records.push(record);
    torn = bytes.length - offset - length;
  }
  return { records, damage, torn };
}

/** The whole records one by one, for who does not need all of them at once. */
export function* decodeRecords(bytes: Buffer): Iterable<LogRecord> {
  for (const { record } of readLines(bytes)) if (record !== null) yield record;
}

interface Line extends Damage {
  /** Null when it is damaged. */
  readonly record: LogRecord | null;
}

function* readLines(bytes: Buffer): Iterable<Line> {
  for (let offset = 0; ; ) {
    const end = bytes.indexOf(LINE_FEED, offset);
    if (end < 0) return;
    yield { offset, length: end + 1 - offset, record: decodeLine(bytes.subarray(offset, end)) };
    offset = end + 1;
  }
}

function decodeLine(line: Buffer): LogRecord | null {
  const json = line.subarray(CHECKSUM_LENGTH + 1);
  if (line.toString('latin1', 0, CHECKSUM_LENGTH + 1) !== `${checksumOf(json)}\t`) return null;
  try {
    const value: unknown = JSON.parse(json.toString());
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is LogRecord {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** A sentence for each damaged place: where, and how much is lost. */
export function describeDamage(path: string, damage: readonly Damage[]): string[] {
  return damage.map(
    ({ offset, length }) =>
      `${path} is damaged at byte ${offset}: a record of ${length} bytes is lost, all others are kept`,
  );
}
