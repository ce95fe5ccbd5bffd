/** What --watch can go with, checked before anything is begun. */

import { resolve, sep } from 'node:path';
import { isNonFileInput } from '../../batch/plan/operand.ts';
import { checkResultsFolder, checkWatched } from '../../batch/run/watch-folders.ts';
import { flagName } from '../../context/command.ts';
import { Failure } from '../../errors/failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';

/** Why each of these cannot go with it. */
const AGAINST = {
  dryRun: 'which files will come nobody knows; leave out --watch to see what is to be done with those there',
  detach: 'it would never return; leave out --detach',
  filesFrom: 'a list has an end; leave out one of the two',
  filesFrom0: 'a list has an end; leave out one of the two',
  sheet: 'a sheet has an end; leave out one of the two',
} as const;

/**
 * The folders to be watched, absolute.
 * @param results folder of the results, absolute
 * @throws Failure (`usage`)
 */
export async function checkWatch(
  kind: JobKind,
  operands: readonly string[],
  options: Readonly<Record<string, unknown>>,
  { cwd, results }: { readonly cwd: string; readonly results: string },
): Promise<readonly string[]> {
  for (const [option, why] of Object.entries(AGAINST)) {
    const value = options[option];
    if (value !== undefined && value !== false)
      throw usage(`--watch does not go with ${flagName(option)}`, why);
  }
  if (operands.length === 0)
    throw usage('--watch needs a folder', 'name the folder that the files come into');
  const stranger = operands.find((operand) => isNonFileInput(operand, KINDS[kind].input));
  if (stranger !== undefined)
    throw usage(`--watch takes folders, and ${stranger} is none`, 'give it to a command of its own');
  const folders = operands.map((operand) => resolve(cwd, operand));
  for (const folder of folders) await checkWatched(folder);
  const inner = folders.find((folder, position) => folders.some(isAround(folder, position)));
  if (inner !== undefined)
    throw usage(
      `${inner} would be watched twice`,
      'a folder is watched with all that are in it; name it once',
    );
  for (const folder of folders) await checkResultsFolder(folder, results);
  return folders;
}

/** Whether another folder holds this one, or is it. */
function isAround(folder: string, position: number): (other: string, at: number) => boolean {
  return (other, at) => at !== position && (folder === other || folder.startsWith(`${other}${sep}`));
}

function usage(message: string, fix: string): Failure {
  const advice = `${fix.charAt(0).toUpperCase()}${fix.slice(1)}.`;
  return new Failure({ category: 'usage', code: 'USAGE', message, advice });
}
