/** A folder of results, as its journal knows it, and the commands that continue its batch. */
import { isAbsolute, relative, resolve } from 'node:path';
import { usageFailure } from '../../base/failure.ts';
import { NOT_USABLE } from '../../batch/input.ts';
import { CUES_MISSING } from '../../batch/item-provenance.ts';
import { combineRecords, type ReadRecords } from '../../batch/records/batch-records.ts';
import type { BatchCommand } from '../../batch/records/command-record.ts';
import { readItemKeys } from '../../batch/records/item-key.ts';
import { readOwnRecords } from '../../batch/records/other-journals.ts';
import { listPlaces } from '../../batch/records/record-folder.ts';
import { type BatchFacts, FAILED_STATES, OPEN_STATES } from '../../batch/report/batch-facts.ts';
import type { ItemReport, ReportState } from '../../batch/report/item-report.ts';
import { describeBatchDamage, type FolderWorker, findWorker } from '../../batch/report/read-batch.ts';
import { combineFolders, type FolderFacts, readFolderFacts } from '../../batch/report/shard-facts.ts';
import type { Operands } from '../context/command.ts';
import type { Context, Io } from '../context/context.ts';
import {
  type Caller,
  goOnCommand,
  inFolder,
  sameCommand,
  serviceFlagsOf,
  writeCommand,
} from '../context/printed-command.ts';

export const BATCH_OPERAND = {
  name: 'dir',
  count: 'many',
  paths: 'results',
  help: 'folders of results, as given to --out; several count as one batch',
} as const satisfies Operands;

export interface BatchFolder extends FolderFacts {
  /** The readable records of all journals. */
  readonly records: ReadRecords;
  /** A sentence for each damaged place of the journals. */
  readonly damage: readonly string[];
  /** The processes that use the folder. */
  readonly workers: readonly FolderWorker[];
}

/** The folders of a batch, and their facts together. */
export interface BatchFolders {
  readonly batches: readonly BatchFolder[];
  readonly facts: BatchFacts;
}

/** @throws Failure (`usage`) when no batch was ever run into one of the folders, `disk` */
export async function readBatchFolders(
  context: Pick<Context, 'io'>,
  operands: readonly string[],
): Promise<BatchFolders> {
  const folders = new Set(operands.map((operand) => resolve(context.io.cwd, operand)));
  const batches = await Promise.all([...folders].map((folder) => readBatchFolder(context, folder)));
  return { batches, facts: combineFolders(batches) };
}

async function readBatchFolder({ io }: Pick<Context, 'io'>, folder: string): Promise<BatchFolder> {
  const places = await listPlaces(folder);
  const found = await Promise.all(
    places.map(async (place) => {
      const [content, worker] = await Promise.all([readOwnRecords(place), findWorker(place)]);
      return { place, content, worker };
    }),
  );
  const journals = found.filter(
    ({ content, worker }) =>
      worker !== null || ((!content.isEmpty || content.damage.length > 0) && !isForgotten(content)),
  );
  const facts = readFolderFacts(folder, journals, io.now());
  const isShared = journals.some(({ place }) => place.shard !== undefined);
  const isNothing = facts.items.length + facts.unnamed.length === 0 && facts.damaged === 0;
  const workers = journals.flatMap(({ worker }) => worker ?? []);
  // A shard may have nothing to do.
  if (isNothing && !isShared && workers.length === 0) {
    throw usageFailure(
      'NO_BATCH',
      `there is no batch in ${folder}`,
      'Name the folder that --out named; without --out it was the folder the command ran in.',
    );
  }
  return {
    folder,
    journals,
    facts,
    records: combineRecords(journals.map(({ content }) => content)),
    damage: journals.flatMap(({ content }) => describeBatchDamage(content)),
    workers,
  };
}

/** Whether all items of a journal were forgotten. A shard that never had any has run, and counts. */
function isForgotten(records: FolderFacts['journals'][number]['content']): boolean {
  // Forgotten items leave their attempts, which belong to no item then.
  const isAny = records.attempts.byKey.size > 0;
  return isAny && records.damage.length === 0 && readItemKeys(records).size === 0;
}

type BatchCaller = Caller & { readonly io: Pick<Io, 'cwd'> };

/** The command lines that continue what is open, and the one that retries what failed; empty when all is done. */
export function continueBatch(
  { items, commands }: Pick<BatchFacts, 'items' | 'commands'>,
  folder: string,
  caller: BatchCaller,
): readonly string[] {
  const open = new Set(items.filter(isIn(OPEN_STATES)).map(({ key }) => key));
  const lines = pickNewest(commands, open).map((command) => repeatCommand(command, caller));
  const failed = items.filter(isIn(FAILED_STATES));
  if (failed.length === 0) return lines;
  // If everything failed permanently, only --all retries something.
  const all = selectRetries({ items: failed, commands }, false).runs.length === 0 ? ['--all'] : [];
  return [...lines, writeCommand(caller, ['batch', 'retry', typePath(folder, caller.io.cwd), ...all])];
}

/** The newest command of each open item, in the order of the commands. */
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

/**
 * The command for the same service, after a `cd` to its folder if it differs from the current one. Agents give absolute
 * paths; here they are relative.
 */
function repeatCommand(
  { argv, cwd, operands, options }: BatchCommand,
  { io }: BatchCaller,
  write: typeof sameCommand = sameCommand,
): string {
  const paths = [...operands, options.out].filter((path) => typeof path === 'string' && isAbsolute(path));
  const commandLine = argv.map((word) => (paths.includes(word) ? typePath(word, cwd) : word));
  const then = { io, service: serviceFlagsOf(argv), commandLine };
  const command = write(then);
  return cwd === io.cwd ? command : inFolder(then, typePath(cwd, io.cwd), command);
}

/** Where an edited text is. */
interface EditedPlace {
  readonly file: string | null;
  readonly language: string | null;
  readonly owner: { readonly key: string; readonly folder: string };
}

/** The command that makes again what depends on an edited text; null if it is not known. */
export function commandAfterEdit(
  { file, language, owner }: EditedPlace,
  { batches }: Pick<BatchFolders, 'batches'>,
  caller: BatchCaller,
): string | null {
  const commands = batches.find(({ folder }) => folder === owner.folder)?.facts.commands ?? [];
  const made = ownerOf(owner, commands) ?? commands.findLast(({ kind }) => kind === 'auto_localization');
  if (file === null || made === undefined) return null;
  if (made.kind === 'auto_localization') return repeatCommand(made, caller, goOnCommand);
  for (const { records, facts } of batches) {
    for (const [key, { path }] of records.facts) {
      const next = path === file ? ownerOf({ key }, facts.commands) : null;
      if (next !== null) return repeatCommand(next, caller);
    }
  }
  if (language === null) return null;
  return writeCommand(caller, ['dub', typePath(file, caller.io.cwd), '--to', language]);
}

/** A path as a user would type it in a folder: relative if that is shorter, and never like a flag. */
function typePath(path: string, cwd: string): string {
  const way = relative(cwd, path) || '.';
  if (isAbsolute(way) || way.length >= path.length) return path;
  return way.startsWith('-') ? `./${way}` : way;
}

export interface Retries {
  /** Items to run again, grouped by command. */
  readonly runs: readonly RetryRun[];
  /** Failed permanently; not run again without `all`. */
  readonly hopeless: readonly ItemReport[];
  /** Failed items whose command is unknown because records are lost. */
  readonly orphans: readonly ItemReport[];
}

export interface RetryRun {
  readonly command: BatchCommand;
  readonly items: readonly ItemReport[];
}

/** Refusals that do not concern the request: the user may add credits, or a new month may begin. */
const SHORT_OF_CREDITS = ['INSUFFICIENT_CREDITS', 'CREDIT_QUOTA_EXCEEDED'];

/** An earlier retry may have been killed after it sent these requests. Continuing them is not charged again. */
const BEGUN: readonly ReportState[] = ['unanswered', 'running', 'undelivered'];

/**
 * Items that failed, and items whose request was sent and whose result is not here.
 * @param all also those that failed permanently, were cancelled, or whose paid result has expired
 */
export function selectRetries(
  { items, commands }: Pick<BatchFacts, 'items' | 'commands'>,
  all: boolean,
): Retries {
  const failed = items.filter(({ state }) => FAILED_STATES.some((each) => each === state));
  const isChosen = (item: ItemReport) =>
    BEGUN.includes(item.state) || (failed.includes(item) && (all || mayHelp(item)));
  const chosen = items.filter(isChosen);
  const owners = new Map(chosen.map((item) => [item, ownerOf(item, commands)] as const));
  const runs = commands.flatMap((command): RetryRun[] => {
    const own = chosen.filter((item) => owners.get(item) === command);
    return own.length === 0 ? [] : [{ command, items: own }];
  });
  return {
    runs,
    hopeless: failed.filter((item) => !chosen.includes(item)),
    orphans: chosen.filter((item) => owners.get(item) === null),
  };
}

/** The retries of several folders. */
export function combineRetries(all: readonly Retries[]): Retries {
  return {
    runs: all.flatMap(({ runs }) => runs),
    hopeless: all.flatMap(({ hopeless }) => hopeless),
    orphans: all.flatMap(({ orphans }) => orphans),
  };
}

/** Includes files that were not usable, and those that a person completes: checking them again is free. */
function mayHelp({ error }: ItemReport): boolean {
  return (
    error !== null &&
    (error.retryable || [...SHORT_OF_CREDITS, NOT_USABLE, CUES_MISSING].includes(error.code))
  );
}

/** The last of several commands, since its options are the most recent. */
function ownerOf({ key }: Pick<ItemReport, 'key'>, commands: readonly BatchCommand[]): BatchCommand | null {
  const own = commands.filter(({ items }) => items.includes(key));
  return own.toSorted((left, right) => Date.parse(left.at) - Date.parse(right.at)).at(-1) ?? null;
}
