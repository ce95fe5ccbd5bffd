/** The commands that continue a batch: pure. */

import { type BatchFacts, FAILED_STATES, OPEN_STATES } from '../../batch/report/batch-facts.ts';
import type { BatchCommand } from '../../batch/report/command-record.ts';
import type { ItemReport } from '../../batch/report/item-report.ts';
import { selectRetries } from '../../batch/report/select-retries.ts';
import type { Io } from '../../context/io.ts';
import {
  type Caller,
  inFolder,
  sameCommand,
  serviceFlagsOf,
  writeCommand,
} from '../../context/printed-command.ts';

type BatchCaller = Caller & { readonly io: Pick<Io, 'cwd'> };

/** The command lines that continue what is open, and the one that retries what failed; empty when all is done. */
export function continueBatch(
  { items, commands }: Pick<BatchFacts, 'items' | 'commands'>,
  folder: string,
  caller: BatchCaller,
): readonly string[] {
  const open = new Set(items.filter(isIn(OPEN_STATES)).map(({ key }) => key));
  const lines = pickNewest(commands, open).map((command) => repeatCommand(command, caller));
  if (!items.some(isIn(FAILED_STATES))) return lines;
  // Without --all it would leave alone what failed permanently, and run nothing.
  const all = selectRetries({ items, commands }, false).runs.length === 0 ? ['--all'] : [];
  return [...lines, writeCommand(caller, ['batch', 'retry', folder, ...all])];
}

/** For each open item the command that it was run with last; in the order of the commands. */
function pickNewest(commands: readonly BatchCommand[], open: ReadonlySet<string>): readonly BatchCommand[] {
  const left = new Set(open);
  const newestFirst = commands.toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at));
  const picked = new Set(
    newestFirst.filter(({ items }) => items.filter((key) => left.delete(key)).length > 0),
  );
  return commands.filter((command) => picked.has(command));
}

function isIn(states: readonly ItemReport['state'][]): (item: ItemReport) => boolean {
  return ({ state }) => states.includes(state);
}

/** For the service that it named then, with the change of folder before it where paths would lead elsewhere. */
function repeatCommand({ argv, cwd }: BatchCommand, { io }: BatchCaller): string {
  const then = { io, service: serviceFlagsOf(argv), commandLine: argv };
  const command = sameCommand(then);
  return cwd === io.cwd ? command : inFolder(then, cwd, command);
}
