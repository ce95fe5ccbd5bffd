/**
 * Puts whole files in their places. Results, subtitles and videos get their names in no other way, so that a run that is killed
 * leaves no file that the next one takes for one of the user.
 */
import { rm } from 'node:fs/promises';
import type { FindInput } from '../../base/find-input.ts';
import { moveFile } from '../../base/move-file.ts';
import { syncFile } from '../../base/sync.ts';
import { fileSystemFailure } from '../../base/system-error.ts';
import { partOf, prepareTarget, publishPart, refuseInput } from '../../client/download/part-file.ts';
import type { StoredFile } from '../records/attempts.ts';
import type { BatchRecords } from '../records/batch-records.ts';
import type { OutputOwner, OutputRow, OutputsRecord, OutputVersion } from '../records/outputs.ts';
import { findVersion, isSameFile } from './result-file.ts';

/** A whole file that is to get its name. */
export interface Output {
  /** Where it is until then; null for one that has its name. */
  readonly from: string | null;
  readonly file: StoredFile;
}

/** The records of files in their places. */
export interface OutputRows {
  /** The versions of a file that may be there. */
  find(path: string): Promise<readonly OutputRow[]>;
  /** Records files that get their names next. @throws Failure with nothing recorded */
  add(files: readonly StoredFile[]): Promise<void>;
}

export interface Placing {
  readonly rows: OutputRows;
  /** Whether a file that is not ours may be replaced, too. */
  readonly overwrite: boolean;
  /** See `Inputs`. */
  readonly findInput?: FindInput | undefined;
}

/**
 * Records the files, renames each to its name, atomically and durably, and settles them. The same call after a kill ends in the
 * same way, whichever of them have their names by then.
 * @param settle records in one transaction that they are in their places, and what follows from that
 * @throws Failure: `usage` (TARGET_EXISTS, TARGET_IS_INPUT) for a file that may not be replaced, `disk`, those of the records
 */
export async function publish(
  outputs: readonly Output[],
  placing: Placing,
  settle: () => Promise<void>,
): Promise<void> {
  const { rows, findInput } = placing;
  const due: { readonly from: string; readonly file: StoredFile; readonly mayReplace: boolean }[] = [];
  for (const { from, file } of outputs) {
    const { path, size: bytes, sha256 } = file;
    if (from !== null) for (const written of [path, partOf(path)]) await refuseInput(written, findInput);
    if (from === null || (await isSameFile(path, { bytes, sha256 }))) {
      // A run that was killed between two names of one file has left the other one.
      await rm(partOf(path), { force: true });
    } else due.push({ from, file, mayReplace: await claimPlace(path, placing) });
  }
  if (due.length > 0) await rows.add(due.map(({ file }) => file));
  for (const { from, file, mayReplace } of due) {
    const part = partOf(file.path);
    try {
      if (from !== part) {
        await moveFile(from, part);
        await syncFile(part);
      }
      await publishPart(part, file.path, mayReplace, findInput);
    } catch (error) {
      // A download goes on from its part.
      if (from !== part) await rm(part, { force: true }).catch(() => undefined);
      throw fileSystemFailure(error, file.path);
    }
  }
  await settle();
}

/**
 * Checks that a file may get this name, and creates its folder.
 * @returns whether it may replace the file that is there: one of ours, unless the user allows any
 * @throws Failure as `publish` does
 */
export async function claimPlace(path: string, { rows, overwrite, findInput }: Placing): Promise<boolean> {
  await refuseInput(path, findInput);
  const mayReplace = overwrite || (await findVersion(path, await rows.find(path))) !== null;
  await prepareTarget(path, mayReplace);
  return mayReplace;
}

interface OutputJournal extends Pick<BatchRecords, 'findOutputs'> {
  add(...records: readonly OutputsRecord[]): Promise<void>;
}

/** The rows of an owner in the records of a folder. */
export function rowsIn(
  { findOutputs, add }: OutputJournal,
  owner: OutputOwner,
  making: OutputVersion,
): OutputRows & { readonly placed: (files: readonly StoredFile[]) => OutputsRecord } {
  return {
    find: async (path) => findOutputs({ ...owner, path }),
    add: (files) => add({ type: 'outputs', ...owner, ...making, files }),
    placed: (files) => ({ type: 'outputs', ...owner, ...making, files, is_placed: true }),
  };
}
