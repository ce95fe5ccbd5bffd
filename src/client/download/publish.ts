/** A finished part gets its name. Source: design, "Wait, outputs, money". */
import { link, lstat, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Failure, usageFailure } from '../../base/failure.ts';
import type { FindInput } from '../../base/find-input.ts';
import { makeFolder } from '../../base/folder.ts';
import { syncFolder } from '../../base/sync.ts';
import { errorCode, onDisk } from '../../base/system-error.ts';

/** The failure of an existing target that may not be replaced. */
function targetExistsFailure(path: string): Failure {
  return usageFailure(
    'TARGET_EXISTS',
    `${path} already exists and was not changed`,
    'Choose another folder with --out, or replace it with --clobber.',
  );
}

/** @throws Failure (`usage`) when the path is an input of the user, which no option allows to replace */
export async function refuseInput(path: string, findInput: FindInput = NO_INPUTS): Promise<void> {
  const input = await findInput(path);
  if (input === null) return;
  const what = input === path ? `${path} is an input` : `${path} is the input ${input}`;
  throw usageFailure(
    'TARGET_IS_INPUT',
    `${what}, so it was not changed`,
    'Choose another name or folder with --name or --out. Not even --clobber replaces an input.',
  );
}

const NO_INPUTS: FindInput = async () => null;

/** Creates the folder of the target and refuses an existing target, before anything is downloaded. */
export async function prepareTarget(path: string, overwrite: boolean): Promise<void> {
  await onDisk(path, () => makeFolder(dirname(path)));
  if (!overwrite && (await exists(path))) throw targetExistsFailure(path);
}

/** A link counts, also one to a file that does not exist: it has the name. */
async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * Renames the part and makes the name durable.
 * @throws Failure: `usage` when the target came into being meanwhile or is an input, else `disk`
 */
export async function publishPart(
  part: string,
  target: string,
  overwrite: boolean,
  findInput?: FindInput,
): Promise<void> {
  // Checked again: an input may have been put there since the download began.
  await refuseInput(target, findInput);
  await onDisk(target, async () => {
    if (overwrite) await rename(part, target);
    else await renameToNew(part, target);
    await syncFolder(dirname(target));
  });
}

/** File systems without hard links (exFAT, many network shares) answer with one of these. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EMLINK']);

/** `rename` replaces an existing file; only `link` refuses to, atomically. */
async function renameToNew(part: string, target: string): Promise<void> {
  try {
    await link(part, target);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw targetExistsFailure(target);
    if (!NO_LINKS.has(errorCode(error))) throw error;
    if (await exists(target)) throw targetExistsFailure(target);
    return rename(part, target);
  }
  await unlink(part);
}
