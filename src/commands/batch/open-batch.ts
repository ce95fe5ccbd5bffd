/** A folder of results, as its journal knows it, and the commands that continue its batch. */
import { resolve } from 'node:path';
import { usageFailure } from '../../base/failure.ts';
import { readOwnRecords } from '../../batch/other-journals.ts';
import { listPlaces } from '../../batch/record-folder.ts';
import { combineRecords, type ReadRecords } from '../../batch/records/batch-records.ts';
import {
  type BatchFacts,
  countFailed,
  countOpen,
  FAILED_STATES,
  OPEN_STATES,
} from '../../batch/report/batch-facts.ts';
import type { BatchCommand } from '../../batch/report/command-record.ts';
import type { ItemReport, ReportState } from '../../batch/report/item-report.ts';
import { describeBatchDamage, type FolderWorker, findWorker } from '../../batch/report/read-batch.ts';
import { selectRetries } from '../../batch/report/select-retries.ts';
import { combineFolders, type FolderFacts, readFolderFacts } from '../../batch/report/shard-facts.ts';
import { SYSTEM_RUNTIME } from '../../client/runtime.ts';
import type { Operands } from '../context/command.ts';
import type { Context, Io, Progress, WorkSummary } from '../context/context.ts';
import { showPath } from '../context/format.ts';
import {
  type Caller,
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

export interface OpenBatch extends FolderFacts {
  /** The readable records of all journals. */
  readonly records: ReadRecords;
  /** A sentence for each damaged place of the journals. */
  readonly damage: readonly string[];
  /** The processes that use the folder. */
  readonly workers: readonly FolderWorker[];
}

/** The folders of a batch, and what all of them say together. */
export interface OpenBatches {
  readonly batches: readonly OpenBatch[];
  readonly facts: BatchFacts;
}

/** @throws Failure (`usage`) when no batch was ever run into one of the folders, `disk` */
export async function openBatches(
  context: Pick<Context, 'io'>,
  operands: readonly string[],
): Promise<OpenBatches> {
  const folders = new Set(operands.map((operand) => resolve(context.io.cwd, operand)));
  const batches = await Promise.all([...folders].map((folder) => openBatch(context, folder)));
  return { batches, facts: combineFolders(batches) };
}

async function openBatch({ io }: Pick<Context, 'io'>, folder: string): Promise<OpenBatch> {
  const places = await listPlaces(folder);
  const found = await Promise.all(
    places.map(async (place) => {
      const [content, worker] = await Promise.all([readOwnRecords(place), findWorker(place)]);
      return { place, content, worker };
    }),
  );
  const journals = found.filter(
    ({ content, worker }) => !content.isEmpty || content.damage.length > 0 || worker !== null,
  );
  const facts = readFolderFacts(folder, journals, io.now());
  const isShared = journals.some(({ place }) => place.shard !== undefined);
  const isNothing = facts.items.length === 0 && facts.stray_jobs.length === 0 && facts.damaged === 0;
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

/** Reading the journal of hundreds of items takes milliseconds. */
const REFRESH_MS = 2_000;

/** States in which an item is in progress, according to the journal. */
const GOING: readonly ReportState[] = ['unanswered', 'running', 'undelivered'];

/**
 * Shows the progress of a batch until no item is open; returns its last state.
 * @throws Failure as `openBatches`; the reason of the signal, which ends it
 */
export async function watchStatus(context: Context, operands: readonly string[]): Promise<OpenBatches> {
  const { io, terminal, signal } = context;
  const { sleep } = { ...SYSTEM_RUNTIME, ...io.pace?.runtime };
  let batch = await openBatches(context, operands);
  const board = await terminal.board(() => pictureOf(batch, io.now()));
  try {
    while (countOpen(batch.facts) > 0) {
      await sleep(REFRESH_MS, signal);
      const before = statesOf(batch.facts);
      batch = await openBatches(context, operands);
      for (const item of batch.facts.items)
        if (before.get(idOf(item)) !== item.state) tell(board, item, io.cwd);
    }
    return batch;
  } finally {
    board.close();
  }
}

/** Items of several folders may have the same key. */
function idOf({ folder = '', key }: ItemReport): string {
  return JSON.stringify([folder, key]);
}

function statesOf({ items }: BatchFacts): ReadonlyMap<string, ReportState> {
  return new Map(items.map((item) => [idOf(item), item.state]));
}

function tell(board: Progress, { label, state, error, files }: ItemReport, cwd: string): void {
  if (state === 'done') board.end(label, 'done', files.map(({ path }) => showPath(path, cwd)).join(', '));
  else if (FAILED_STATES.some((each) => each === state)) board.end(label, 'failed', error?.message ?? state);
  else board.show(label, { phase: state, fraction: null });
}

function pictureOf({ facts, batches }: OpenBatches, nowMs: number): WorkSummary {
  const { items, counts, credits, next_deadline } = facts;
  const going = items.filter(({ state }) => GOING.includes(state));
  return {
    running: going.map(({ label, state, created_at, asked_at }) => ({
      label,
      step: { phase: state, fraction: null },
      since: Date.parse(created_at ?? asked_at ?? '') || nowMs,
    })),
    counts: {
      total: items.length,
      done: counts.done,
      running: going.length,
      waiting: counts.waiting,
      failed: countFailed(facts),
      left: 0,
    },
    leftMs: null,
    credits,
    slots: null,
    deadline: next_deadline,
    stop: batches.every(({ workers }) => workers.length === 0) ? 'no process works on it' : null,
  };
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
  const path = showPath(folder, caller.io.cwd);
  // A name that looks like a flag stays absolute.
  const operand = path.startsWith('-') ? folder : path;
  return [...lines, writeCommand(caller, ['batch', 'retry', operand, ...all])];
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

/** The command for the same service, after a `cd` to its folder if it differs from the current one. */
function repeatCommand({ argv, cwd }: BatchCommand, { io }: BatchCaller): string {
  const then = { io, service: serviceFlagsOf(argv), commandLine: argv };
  const command = sameCommand(then);
  return cwd === io.cwd ? command : inFolder(then, cwd, command);
}
