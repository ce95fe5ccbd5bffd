/**
 * Append-only files of checksummed records: one writer for the journal of a batch, several processes for the logs of the
 * state folder. Source: design, "The record (journal)".
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { syncFolder } from '../../base/sync.ts';
import { errorCode, onDisk } from '../../base/system-error.ts';
import { withMutex } from './hold.ts';
import { type HeadFile, type LogFile, openHead, openLogFile, readHead } from './log-file.ts';
import { inStateFolder } from './private-folder.ts';
import {
  decodeLog,
  decodeRecords,
  describeDamage,
  encodeLog,
  encodeRecords,
  type LogContent,
  type LogRecord,
} from './record-line.ts';
import { createGroupCommit, createTaskQueue } from './task-queue.ts';

/**
 * Picks the records that still mean something, in their order; those of unknown types belong to them. They come one by
 * one, so that a long log need not be in memory as a whole.
 */
type PickLive = (records: Iterable<LogRecord>) => readonly LogRecord[];

interface AppendLog {
  /** Resolves when the records are on the disk, all of them in one write. @throws Failure, and the log stays as it was */
  append(...records: readonly LogRecord[]): Promise<void>;
  /** Rewrites the log without its dead records if they are the larger part; true if it did. @throws Failure */
  compact(pickLive: PickLive): Promise<boolean>;
  /** Ends when all appends have ended. */
  close(): Promise<void>;
}

/** Type of the record of a damage; it stays until lost jobs have been searched for. */
export const DAMAGED = 'log_damaged';

/**
 * Opens the log for its only writer (see `lockFolder`), making it if need be, 0600, and returns what is in it.
 * A record whose writing was cut off is removed. A damaged log is kept beside under another name, byte by byte, and
 * rewritten with the undamaged records, followed by one of type `log_damaged`.
 * @throws Failure
 */
export async function openAppendLog(path: string): Promise<{ log: AppendLog; content: LogContent }> {
  const head = await onDisk(path, () => readHead(path));
  const bytes = await onDisk(path, () => readBytes(path));
  const content = decodeLog(bytes ?? Buffer.alloc(0), head);
  const isDamaged = content.damage.length > 0;
  const kept = isDamaged && bytes !== null ? await onDisk(path, () => keepAside(path, bytes)) : null;
  const last = Math.max(content.last, head.state === 'known' ? head.last : 0);
  const count = await onDisk(path, () => openHead(path, head, last));
  try {
    const file = await openLogFile(path);
    try {
      const log = createAppendLog({ file, count, last }, content.records);
      if (!isDamaged) return { log, content };
      const places = describeDamage(path, content.damage);
      const records = [...content.records, { type: DAMAGED, places, kept }];
      await log.rewrite(records);
      return { log, content: { ...content, records } };
    } catch (error) {
      await file.close();
      throw error;
    }
  } catch (error) {
    await count.close();
    throw error;
  }
}

/** Puts the bytes into a new file beside the log. Returns its name. */
async function keepAside(path: string, bytes: Buffer): Promise<string> {
  for (let number = 1; ; number += 1) {
    const aside = `${path}.damaged-${number}`;
    try {
      const handle = await open(aside, 'wx', 0o600);
      await handle.writeFile(bytes);
      await handle.sync().finally(() => handle.close());
      await syncFolder(dirname(path));
      return basename(aside);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

interface Parts {
  readonly file: LogFile;
  readonly count: HeadFile;
  /** The number of the last line. */
  readonly last: number;
}

function createAppendLog(
  { file, count, last: begin }: Parts,
  read: readonly LogRecord[],
): AppendLog & { rewrite(records: readonly LogRecord[]): Promise<void> } {
  const inTurn = createTaskQueue();
  let last = begin;
  // Right after opening, the records are known without reading the file again.
  let known: readonly LogRecord[] | null = read;
  const commit = createGroupCommit<LogRecord>(inTurn, async (records) => {
    known = null;
    await file.append(encodeRecords(records, last + 1));
    last += records.length;
    await count.note(last);
  });
  // The numbers continue, so that a run that is killed here leaves a log that is ahead of its count.
  async function replace(records: readonly LogRecord[]): Promise<void> {
    await file.replace(encodeLog(records, last + 1));
    last += 1 + records.length;
    await count.note(last);
  }
  return {
    append: (...records) => commit(records),
    rewrite: (records) =>
      inTurn(async () => {
        await replace(records);
        known = records;
      }),
    compact: (pickLive) =>
      inTurn(async () => {
        const records = known ?? decodeRecords(await file.read());
        known = null;
        return compactRecords(records, pickLive, replace);
      }),
    close: () => inTurn(() => file.close().finally(() => count.close())),
  };
}

/** Rewrites the file if more than half of its records are dead: so the work stays in proportion to what was appended. */
export async function compactFile(file: LogFile, pickLive: PickLive): Promise<boolean> {
  return compactRecords(decodeRecords(await file.read()), pickLive, (live) =>
    file.replace(encodeRecords(live)),
  );
}

async function compactRecords(
  records: Iterable<LogRecord>,
  pickLive: PickLive,
  replace: (live: readonly LogRecord[]) => Promise<void>,
): Promise<boolean> {
  let count = 0;
  function* counted() {
    for (const record of records) {
      count += 1;
      yield record;
    }
  }
  const live = pickLive(counted());
  if (live.length * 2 >= count) return false;
  await replace(live);
  return true;
}

/**
 * Reads a log that others may be writing to, without a lock and without changing it; one that is not there is empty.
 * @throws Failure when it cannot be read
 */
export function readLog(path: string): Promise<LogContent> {
  return onDisk(path, async () => decodeLog((await readBytes(path)) ?? Buffer.alloc(0)));
}

/** The same for a log of `openAppendLog`: lines missing from its end are reported too. */
export function readCountedLog(path: string): Promise<LogContent> {
  return onDisk(path, async () => {
    // In this order: another process may append in between.
    const head = await readHead(path);
    return decodeLog((await readBytes(path)) ?? Buffer.alloc(0), head);
  });
}

/** Null for a file that is not there. */
async function readBytes(path: string): Promise<Buffer | null> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return await handle.readFile().finally(() => handle.close());
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return null;
  }
}

interface SharedLog {
  /** Resolves when the records are on the disk. @throws Failure, and the log stays as it was */
  append(...records: readonly LogRecord[]): Promise<void>;
  /** What all processes have written up to now. @throws Failure when it cannot be read */
  read(): Promise<LogContent>;
}

/** A smaller log is read in two milliseconds, dead records and all. */
const COMPACT_FROM_BYTES = 256 * 1024;

/**
 * @param path the log; its mutex is beside it, with `.lock` appended to the name
 * @param pickLive asked once the log has grown large, and again each time it has doubled
 */
export function openSharedLog(path: string, pickLive: PickLive): SharedLog {
  let compactAt = COMPACT_FROM_BYTES;

  async function write(records: readonly LogRecord[]): Promise<void> {
    const file = await openLogFile(path);
    try {
      await file.append(encodeRecords(records));
      if (file.length < compactAt) return;
      // The records are safe already; a disk without room for the shorter copy does not make the append fail.
      await compactFile(file, pickLive).catch(() => false);
      compactAt = Math.max(COMPACT_FROM_BYTES, 2 * file.length);
    } finally {
      await file.close();
    }
  }

  const commit = createGroupCommit<LogRecord>(createTaskQueue(), (records) =>
    withMutex(`${path}.lock`, () => write(records)),
  );
  return {
    append: (...records) => inStateFolder(() => commit(records)),
    read: () => inStateFolder(() => readLog(path)),
  };
}
