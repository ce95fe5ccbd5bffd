/** Whether a folder takes files, and how many more. */

import { randomUUID } from 'node:crypto';
import { stat, statfs, unlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { formatBytes } from '../../errors/amounts.ts';
import { describeDisk, errorCode } from '../../errors/system-error.ts';
import type { Result } from './finding.ts';

/** A video of the largest size, and its result. Source: specification, "Limits" (video size). */
const COMFORTABLE_BYTES = 2 * 1024 ** 3;
/** A sound track of 15 minutes at 48 kHz, 16 bit, stereo takes 173 MB: less than that, and hardly any job gets through. */
const LEAST_BYTES = 175_000_000;

/** The smallest file that shows it: an empty one may fit on a full disk. */
const PROBE = 'vloc doctor\n';

/** Writes and removes a small file there, or where the folder would be made. */
export async function lookAtFolder(folder: string): Promise<Result> {
  const existing = await nearestExisting(resolve(folder));
  const facts = { path: folder, exists: existing === resolve(folder) };
  const fault = await tryToWrite(existing);
  if (fault !== null) {
    const { reason, advice } = describeDisk(fault);
    return {
      grade: 'fail',
      message: `cannot write to ${existing}: ${reason} (${fault})`,
      fix: advice,
      facts,
    };
  }
  const { bavail, bsize } = await statfs(existing);
  return judgeRoom(facts.exists ? folder : `${folder} (not made yet)`, bavail * bsize, facts);
}

/** @param freeBytes what this user may still write */
export function judgeRoom(
  shown: string,
  freeBytes: number,
  facts: Readonly<Record<string, unknown>>,
): Result {
  const message = `${shown}, ${formatBytes(freeBytes)} free`;
  const all = { ...facts, free_bytes: freeBytes };
  if (freeBytes >= COMFORTABLE_BYTES) return { grade: 'ok', message, facts: all };
  return {
    grade: freeBytes < LEAST_BYTES ? 'fail' : 'warn',
    message,
    fix: 'Make room: a video and its result may take 2 GiB together.',
    facts: all,
  };
}

async function nearestExisting(folder: string): Promise<string> {
  try {
    await stat(folder);
    return folder;
  } catch (error) {
    const parent = dirname(folder);
    if (errorCode(error) !== 'ENOENT' || parent === folder) return folder;
    return nearestExisting(parent);
  }
}

/** Null when it worked, else the code of the system. */
async function tryToWrite(folder: string): Promise<string | null> {
  const path = join(folder, `.vloc-doctor-${randomUUID()}`);
  try {
    await writeFile(path, PROBE, { flag: 'wx', mode: 0o600 });
    return null;
  } catch (error) {
    if (errorCode(error) === '') throw error;
    return errorCode(error);
  } finally {
    await unlink(path).catch(() => undefined);
  }
}
