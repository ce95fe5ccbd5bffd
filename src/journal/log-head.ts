/**
 * How many lines were written to a log, in a file beside it: what was cut from the end of the log would else leave no
 * trace. The log is written first, so that it may be ahead of its count, but never behind.
 */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../errors/system-error.ts';
import { makePrivateFolder, syncFolder } from './private-folder.ts';
import { decodeLog, encodeRecords, type Head } from './record-line.ts';

/** Where the count of a log lies. */
function headPath(path: string): string {
  return `${path}.head`;
}

/** O_NONBLOCK: a named pipe put in the place of the file must not make the open wait for ever. */
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
  /** Notes the number of the last line. One that cannot be written is behind, which is no damage. */
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
