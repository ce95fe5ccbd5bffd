/** The bytes of a log on disk: whole lines only, each durable before its write counts as done. */

import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from '../../base/sync.ts';
import { errorCode, onDisk } from '../../base/system-error.ts';
import { makePrivateFolder } from './private-folder.ts';
import { decodeLog, encodeRecords, type Head } from './record-line.ts';

export interface LogFile {
  /** Bytes that are known to be whole and durable. */
  readonly length: number;
  /** Bytes of an unfinished line that opening cut off. */
  readonly torn: number;
  /** Appends lines and syncs them. After a failure the file ends where it did before. @throws Failure */
  append(lines: Buffer): Promise<void>;
  /** Atomically replaces all lines. @throws Failure */
  replace(lines: Buffer): Promise<void>;
  read(): Promise<Buffer>;
  close(): Promise<void>;
}

/** O_NONBLOCK: a named pipe put there instead of the file must not make the open wait forever. */
const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Longer than any usual record, so that the end of the last whole line is found with one read. */
const TAIL_BYTES = 64 * 1024;

/**
 * Opens the file for writing, new ones 0600, and cuts off a line whose writing was cut short. Only for who holds the lock.
 * @throws Failure
 */
export function openLogFile(path: string): Promise<LogFile> {
  return onDisk(path, async () => {
    await makePrivateFolder(dirname(path));
    const handle = await open(path, FLAGS | constants.O_CREAT, 0o600);
    try {
      const { size } = await handle.stat();
      // A crash may have come between the making of the file and the sync of its name.
      if (size === 0) await syncFolder(dirname(path));
      const end = await findLastLineEnd(handle, size);
      if (end < size) await cut(handle, end);
      return createLogFile(path, handle, end, size - end);
    } catch (error) {
      await handle.close();
      throw error;
    }
  });
}

function createLogFile(path: string, opened: FileHandle, end: number, torn: number): LogFile {
  let handle = opened;
  let length = end;
  // True while the file may hold more than its known length.
  let isUnsure = false;

  async function restore(): Promise<void> {
    await cut(handle, length);
    isUnsure = false;
  }

  async function append(lines: Buffer): Promise<void> {
    if (isUnsure) await restore();
    isUnsure = true;
    try {
      await writeAll(handle, lines);
      await handle.datasync();
    } catch (error) {
      // Where even this fails, the next append tries it again before it writes.
      await restore().catch(() => undefined);
      throw error;
    }
    length += lines.length;
    isUnsure = false;
  }

  async function replace(lines: Buffer): Promise<void> {
    const draft = `${path}.new`;
    await rm(draft, { force: true });
    const fresh = await open(draft, FLAGS | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      await writeAll(fresh, lines);
      await fresh.sync();
      await rename(draft, path);
    } catch (error) {
      await fresh.close();
      await rm(draft, { force: true });
      throw error;
    }
    const old = handle;
    handle = fresh;
    length = lines.length;
    isUnsure = false;
    await old.close();
    await syncFolder(dirname(path));
  }

  return {
    get length() {
      return length;
    },
    torn,
    append: (lines) => onDisk(path, () => append(lines)),
    replace: (lines) => onDisk(path, () => replace(lines)),
    read: () => onDisk(path, () => readStart(handle, length)),
    close: () => handle.close(),
  };
}

async function cut(handle: FileHandle, length: number): Promise<void> {
  await handle.truncate(length);
  await handle.datasync();
}

/** One write as a rule; a disk that fills up takes a part first and fails at the next call. */
async function writeAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    written += (await handle.write(bytes, written)).bytesWritten;
  }
}

async function findLastLineEnd(handle: FileHandle, size: number): Promise<number> {
  for (let end = size; end > 0; end -= TAIL_BYTES) {
    const start = Math.max(0, end - TAIL_BYTES);
    const found = (await readRange(handle, start, end)).lastIndexOf('\n');
    if (found >= 0) return start + found + 1;
  }
  return 0;
}

const readStart = (handle: FileHandle, length: number) => readRange(handle, 0, length);

async function readRange(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  const bytes = Buffer.alloc(end - start);
  for (let filled = 0; filled < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, start + filled);
    if (bytesRead === 0) return bytes.subarray(0, filled);
    filled += bytesRead;
  }
  return bytes;
}

/**
 * The file beside a log with the number of its lines; without it, lines cut from the end of the log would leave no trace.
 * The log is written first: it may be ahead of its count, but never behind.
 */
function headPath(path: string): string {
  return `${path}.head`;
}

/** O_NONBLOCK: a named pipe put there instead of the file must not make the open wait forever. */
const SAFELY = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Reads the count of a log. Read it before the log itself: another process may append meanwhile. */
export async function readHead(path: string): Promise<Head> {
  try {
    const handle = await open(headPath(path), constants.O_RDONLY | SAFELY);
    const bytes = await handle.readFile().finally(() => handle.close());
    // A run was killed between the making of the file and its first write.
    if (bytes.length === 0) return { state: 'none' };
    const { records, damage, torn } = decodeLog(bytes);
    const last = records[0]?.last;
    const isWhole = records.length === 1 && damage.length === 0 && torn === 0;
    return isWhole && typeof last === 'number' ? { state: 'known', last } : { state: 'unreadable' };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { state: 'none' };
    throw error;
  }
}

export interface HeadFile {
  /** Notes the number of the last line. A failed write leaves the count lower than that of the log, which is not damage. */
  note(last: number): Promise<void>;
  close(): Promise<void>;
}

/** Opens the count for the only writer of the log; unless there is a readable one, a durable one is made. */
export async function openHead(path: string, found: Head, last: number): Promise<HeadFile> {
  await makePrivateFolder(dirname(path));
  const handle = await open(headPath(path), constants.O_RDWR | constants.O_CREAT | SAFELY, 0o600);
  try {
    if (found.state !== 'known') {
      await handle.truncate(0);
      await write(handle, last);
      await handle.sync();
      await syncFolder(dirname(path));
    }
  } catch (error) {
    await handle.close();
    throw error;
  }
  return {
    // Not synced: after a power cut the count is an older one, and the log ahead of it.
    note: (number) => write(handle, number).catch(() => undefined),
    close: () => handle.close(),
  };
}

/** In one write, in place: the number only grows, so that a shorter line never leaves the end of a longer one. */
async function write(handle: FileHandle, last: number): Promise<void> {
  const line = encodeRecords([{ type: 'log_head', last }]);
  await handle.write(line, 0, line.length, 0);
}
