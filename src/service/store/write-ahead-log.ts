/**
 * Detects damage in the write-ahead log of a store. SQLite stops reading at the first frame with a wrong checksum and
 * silently drops the rest, because a power failure during a write looks the same. Committed transactions would be lost
 * without notice. Source: "WAL File Format", https://www.sqlite.org/fileformat2.html#walformat
 */
import { readFileSync } from 'node:fs';
import { errorCode } from '../../errors/system-error.ts';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The last bit defines the byte order of the checksums: 1 for big-endian. */
const MAGIC = 0x377f0682;

type Checksum = readonly [number, number];

/**
 * Returns whether transactions in the log at `path` are committed but cannot be read. Returns false for a missing file.
 */
export function hasLostCommits(path: string): boolean {
  // Another process may restart the log with another header between two reads.
  for (;;) {
    const log = readLog(path);
    if (!losesCommits(log)) return false;
    const again = readLog(path).subarray(0, HEADER_BYTES);
    if (again.equals(log.subarray(0, HEADER_BYTES))) return true;
  }
}

/**
 * Returns whether at least two commits follow a damaged frame. The log is flushed at each commit before the next one is
 * written, so a power failure leaves at most one. Damage in the last transaction cannot be distinguished from a power
 * failure.
 */
export function losesCommits(log: Buffer): boolean {
  if (log.length < HEADER_BYTES) return false;
  const content = log.subarray(HEADER_BYTES);
  const magic = log.readUInt32BE(0);
  const bigEndian = (magic & 1) === 1;
  let previous = checksumOf(log.subarray(0, HEADER_BYTES - 8), [0, 0], bigEndian);
  if ((magic & ~1) !== MAGIC || !isSame(previous, storedAt(log, HEADER_BYTES - 8))) {
    // The header is flushed before the first frame is written. A new log whose blocks were never flushed contains only
    // zeros.
    return content.some((byte) => byte !== 0);
  }
  const frameBytes = FRAME_HEADER_BYTES + log.readUInt32BE(8);
  const salts = log.subarray(16, 24);
  let damaged = false;
  let commits = 0;
  for (let at = 0; at + frameBytes <= content.length; at += frameBytes) {
    const frame = content.subarray(at, at + frameBytes);
    const begin = checksumOf(frame.subarray(0, 8), previous, bigEndian);
    const computed = checksumOf(frame.subarray(FRAME_HEADER_BYTES), begin, bigEndian);
    previous = storedAt(frame, 16);
    // Frames of an earlier use of the log have other salts.
    const isCurrent = frame.subarray(8, 16).equals(salts);
    if (!isCurrent || !isSame(computed, previous)) {
      damaged = true;
      commits = 0;
    }
    if (!damaged) continue;
    const isCommit = isCurrent && frame.readUInt32BE(4) > 0;
    if (isCommit) commits += 1;
    if (commits === 2) return true;
  }
  return false;
}

/** Computes SQLite's checksum of whole pairs of 32-bit words. */
function checksumOf(bytes: Buffer, [first, second]: Checksum, bigEndian: boolean): Checksum {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; at += 8) {
    first = (first + view.getUint32(at, !bigEndian) + second) >>> 0;
    second = (second + view.getUint32(at + 4, !bigEndian) + first) >>> 0;
  }
  return [first, second];
}

const storedAt = (bytes: Buffer, at: number): Checksum => [
  bytes.readUInt32BE(at),
  bytes.readUInt32BE(at + 4),
];

const isSame = (one: Checksum, other: Checksum) => one[0] === other[0] && one[1] === other[1];

function readLog(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
