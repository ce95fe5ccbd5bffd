/** A log in the state folder that several processes append to: each append holds a mutex, readers need none. */
import { compactFile, type PickLive, readLog } from './append-log.ts';
import { withMutex } from './hold.ts';
import { openLogFile } from './log-file.ts';
import { inStateFolder } from './private-folder.ts';
import { encodeRecords, type LogContent, type LogRecord } from './record-line.ts';
import { createGroupCommit, createTurns } from './turns.ts';

interface SharedLog {
  /** Resolves when the records are on the disk. @throws Failure, and the log stays as it was */
  append(...records: readonly LogRecord[]): Promise<void>;
  /** What all processes have written up to now. @throws Failure when it cannot be read */
  read(): Promise<LogContent>;
}

/** A smaller log is read in two milliseconds, dead records and all. */
const COMPACT_FROM_BYTES = 256 * 1024;

/**
 * @param path the log; its mutex lies beside it, `.lock` behind the name
 * @param pickLive asked once the log has grown large, and again each time it has doubled
 */
export function openSharedLog(path: string, pickLive: PickLive): SharedLog {
  let compactAt = COMPACT_FROM_BYTES;

  async function write(records: readonly LogRecord[]): Promise<void> {
    const file = await openLogFile(path);
    try {
      await file.append(encodeRecords(records));
      if (file.length < compactAt) return;
      // The records are safe already; a disk without room for the shorter copy is no reason to call the append failed.
      await compactFile(file, pickLive).catch(() => false);
      compactAt = Math.max(COMPACT_FROM_BYTES, 2 * file.length);
    } finally {
      await file.close();
    }
  }

  const commit = createGroupCommit<LogRecord>(createTurns(), (records) =>
    withMutex(`${path}.lock`, () => write(records)),
  );
  return {
    append: (...records) => inStateFolder(() => commit(records)),
    read: () => inStateFolder(() => readLog(path)),
  };
}
