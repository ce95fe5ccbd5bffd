/** An append-only file of checksummed records. Source: design, "The record (journal)". */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { errorCode, onDisk } from './failure.ts';
import { type LogFile, openLogFile } from './log-file.ts';
import { decodeLog, decodeRecords, encodeRecords, type LogContent, type LogRecord } from './record-line.ts';
import { createGroupCommit, createTurns } from './turns.ts';

/**
 * Picks the records that still mean something, in their order; those of unknown types belong to them. They come one by
 * one, so that a long log need not be in memory as a whole.
 */
export type PickLive = (records: Iterable<LogRecord>) => readonly LogRecord[];

export interface AppendLog {
  /** Resolves when the records are on the disk, all of them in one write. @throws JournalFailure, and the log stays as it was */
  append(...records: readonly LogRecord[]): Promise<void>;
  /** Rewrites the log without its dead records if they are the larger part; true if it did. @throws JournalFailure */
  compact(pickLive: PickLive): Promise<boolean>;
  /** Ends when all appends have ended. */
  close(): Promise<void>;
}

/**
 * Opens the log for its only writer (see `lockFolder`), making it if need be, 0600, and gives what is in it.
 * A record whose writing was cut off is removed; damage elsewhere is reported and left in its place.
 * @throws JournalFailure
 */
export async function openAppendLog(path: string): Promise<{ log: AppendLog; content: LogContent }> {
  const file = await openLogFile(path);
  try {
    const content = { ...decodeLog(await file.read()), torn: file.torn };
    return { log: createAppendLog(file, content.records), content };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function createAppendLog(file: LogFile, read: readonly LogRecord[]): AppendLog {
  const inTurn = createTurns();
  // Right after opening nobody has to read the file again to know what is in it.
  let known: readonly LogRecord[] | null = read;
  const commit = createGroupCommit<LogRecord>(inTurn, (records) => {
    known = null;
    return file.append(encodeRecords(records));
  });
  return {
    append: (...records) => commit(records),
    compact: (pickLive) =>
      inTurn(async () => {
        const records = known ?? decodeRecords(await file.read());
        known = null;
        return compactRecords(file, records, pickLive);
      }),
    close: () => inTurn(() => file.close()),
  };
}

/** Rewrites the file if more than half of its records are dead: so the work stays in proportion to what was appended. */
export async function compactFile(file: LogFile, pickLive: PickLive): Promise<boolean> {
  return compactRecords(file, decodeRecords(await file.read()), pickLive);
}

async function compactRecords(
  file: LogFile,
  records: Iterable<LogRecord>,
  pickLive: PickLive,
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
  await file.replace(encodeRecords(live));
  return true;
}

/**
 * Reads a log that others may be writing to, without a lock and without changing it; one that is not there is empty.
 * @throws JournalFailure when it cannot be read
 */
export function readLog(path: string): Promise<LogContent> {
  return onDisk(path, async () => {
    try {
      const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
      return decodeLog(await handle.readFile().finally(() => handle.close()));
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
      return { records: [], damage: [], torn: 0 };
    }
  });
}
