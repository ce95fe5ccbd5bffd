/** Keeps how tracks sound, since decoding them takes most of the time of a report. */
import { createHash } from 'node:crypto';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../base/folder.ts';
import type { Sound } from '../../batch/report/page-jobs.ts';

/** Increased when the format of outlines changes. */
const OUTLINE_VERSION = 1;

/**
 * Caches the results of `outline` by path, size and modification time of the file.
 * @param folder created if missing; it may be deleted at any time
 * @throws what `outline` throws; a cache that cannot be read or written is ignored
 */
export function cacheSounds(
  folder: string,
  outline: (path: string) => Promise<Sound>,
): (path: string) => Promise<Sound> {
  return async (path) => {
    const { size, mtimeNs } = await stat(path, { bigint: true });
    const name = createHash('sha256').update(
      JSON.stringify([OUTLINE_VERSION, path, `${size}`, `${mtimeNs}`]),
    );
    const file = join(folder, `${name.digest('hex')}.json`);
    const known = await readSound(file);
    if (known !== null) return known;
    const sound = await outline(path);
    await writeSound(folder, file, sound).catch(() => {});
    return sound;
  };
}

async function readSound(file: string): Promise<Sound | null> {
  try {
    const { durationMs, stepMs, peaks, decibels } = JSON.parse(await readFile(file, 'utf8'));
    const levels = Int8Array.from(Buffer.from(decibels, 'base64'));
    return { durationMs, peaks: Buffer.from(peaks, 'base64'), loudness: { stepMs, decibels: levels } };
  } catch {
    return null;
  }
}

async function writeSound(
  folder: string,
  file: string,
  { durationMs, peaks, loudness }: Sound,
): Promise<void> {
  await makeFolder(folder, 0o700);
  const text = JSON.stringify({
    durationMs,
    stepMs: loudness.stepMs,
    peaks: Buffer.from(peaks).toString('base64'),
    decibels: Buffer.from(
      loudness.decibels.buffer,
      loudness.decibels.byteOffset,
      loudness.decibels.length,
    ).toString('base64'),
  });
  // Renaming is atomic, so readers never see an incomplete file.
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
}
