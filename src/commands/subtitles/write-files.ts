/** Writes files that are made of others, and never over another file of the user. */
import { readFile, realpath } from 'node:fs/promises';
import { usageFailure } from '../../base/failure.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { invalidCallFailure } from '../context/command.ts';
import type { SubtitleFile } from './subtitles.ts';

/**
 * Checks that each file is written to a place of its own, and none to that of an input.
 * @param targets absolute, in the order of the files
 * @param instead the option for a file that is to be replaced
 * @throws Failure (`usage`)
 */
export async function checkTargets(
  files: readonly SubtitleFile[],
  targets: readonly string[],
  instead: string,
): Promise<void> {
  const inputs = new Set(await Promise.all(files.map(({ path }) => realpath(path))));
  for (const [at, target] of targets.entries()) {
    const label = files[at]?.label ?? '';
    if (targets.indexOf(target) !== at)
      throw invalidCallFailure(
        `two files would be written to ${target}`,
        'Use one command for each, with different --out.',
      );
    if (inputs.has(await realpath(target).catch(() => target)))
      throw invalidCallFailure(
        `${label} would be replaced`,
        `Choose another folder with --out, or use ${instead}.`,
      );
  }
}

/**
 * Another file of the user is not replaced.
 * @param advice where `mayReplace` is false
 * @throws Failure (`usage`, TARGET_EXISTS; `disk`)
 */
export async function writeTarget(
  path: string,
  bytes: Uint8Array,
  mayReplace: boolean,
  advice: string,
): Promise<void> {
  const existing = mayReplace ? null : await readFile(path).catch(() => null);
  if (existing?.equals(bytes) === true) return;
  if (existing !== null) throw usageFailure('TARGET_EXISTS', `${path} exists and is different`, advice);
  await replaceFile(path, bytes);
}
