/** Puts a file that was made aside under its name. */
import { copyFile, open, rename, rm } from 'node:fs/promises';
import { partOf } from '../../client/download/part-file.ts';
import { prepareTarget, publishPart, refuseInput } from '../../client/download/publish.ts';
import type { FindInput } from '../../disk/find-input.ts';
import { diskFailure, errorCode } from '../../errors/system-error.ts';

/**
 * Moves it there, durable, and never half of it.
 * @throws Failure: `usage` (TARGET_EXISTS) or TARGET_IS_INPUT when something is there that may not be replaced, `disk`
 */
export async function placeFile(
  from: string,
  target: string,
  overwrite: boolean,
  findInput?: FindInput,
): Promise<void> {
  const part = partOf(target);
  for (const written of [target, part]) await refuseInput(written, findInput);
  await prepareTarget(target, overwrite);
  try {
    await moveFile(from, part);
    const file = await open(part, 'r+');
    await file.sync().finally(() => file.close());
    await publishPart(part, target, overwrite, findInput);
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw diskFailure(error, target);
  }
}

/** Folders of the tree of results may lie on other disks. */
async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    await copyFile(from, to);
    await rm(from);
  }
}
