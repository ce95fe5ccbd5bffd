/**
 * Moves an account between a state folder and a PostgreSQL database. The account is usable at exactly one place at any time:
 *
 * 1. The target is marked as arriving, which no vloc uses.
 * 2. Files are copied, if the target has others.
 * 3. Rows are copied and compared in one transaction of the target; then the source is marked as moved, in the transaction in which
 *    it was read.
 * 4. The mark of the target is removed.
 *
 * Killed before the end of 3, the source is used as before, and the next run starts over. Killed after it, the next run does 4.
 */
import { randomUUID } from 'node:crypto';
import { configurationFailure, type Failure } from '../../base/failure.ts';
import { toCredits } from '../../protocol/metering.ts';
import { markedFolderFailure } from '../store/mark.ts';
import { SCHEMA_VERSION } from '../store/schema.ts';
import { type AccountFiles, copyFiles, type MovedUploads } from './files.ts';
import { type OpenAccount, openPlace, type Place, type PlaceName } from './places.ts';
import { accountTables, copyTable, digestTable, NONCES, type Row, readTotals, type Totals } from './rows.ts';

/** Numbers of the moved account, for its user. */
export interface MovedAccount {
  readonly keys: number;
  readonly jobs: number;
  readonly uploads: number;
  readonly ledger_entries: number;
  /** Sum of the ledger, which is what is left of all grants. */
  readonly balance_credits: number;
  readonly reserved_credits: number;
  /** Copied files; 0 if both places use the same folder. */
  readonly files: number;
}

interface MoveOptions {
  /** ms since 1970. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** @throws Failure, with the source as it was */
export async function moveAccount(
  from: PlaceName,
  to: PlaceName,
  options: MoveOptions,
): Promise<MovedAccount> {
  const source = await openPlace(from, 'source');
  try {
    const target = await openPlace(to, 'target');
    try {
      return await move(source, target, options);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Makes an account usable again that was moved away. @throws Failure if it was not */
export async function undoMove(name: PlaceName): Promise<MovedAccount> {
  const place = await openPlace(name, 'source');
  try {
    return await place.transaction(async (account) => {
      const { mark } = await account.state();
      if (mark?.kind === 'arriving') throw markedFolderFailure(mark, place.shown);
      if (mark === null) throw notMovedFailure(place.shown);
      await account.removeMark();
      return describe(await readTotals(account), 0);
    });
  } finally {
    await place.close();
  }
}

async function move(source: Place, target: Place, options: MoveOptions): Promise<MovedAccount> {
  const { now, signal } = options;
  const mark = { id: randomUUID(), at: now() };
  const from = await source.transaction((account) => account.state());
  const to = await target.transaction((account) => account.state());
  if (from.mark !== null) {
    if (to.mark?.kind !== 'arriving' || to.mark.id !== from.mark.id)
      throw markedFolderFailure(from.mark, source.shown);
    return complete(target, from.mark.id, 0);
  }
  await source.transaction((account) => checkSource(account, source.shown));
  const way = { from: source.files, to: target.files };
  const hasOtherFiles = way.from.shown !== way.to.shown;
  if (to.mark?.kind !== 'arriving' && hasOtherFiles) await refuseFiles(way.to);
  await target.transaction(async (account) => {
    await clearTarget(account, target.shown);
    await account.setMark({ kind: 'arriving', place: source.shown, ...mark });
  });
  const copied = await source.transaction(async (rows) => {
    const files = hasOtherFiles ? await copyFiles(rows, way, signal) : { count: 0, uploads: new Map() };
    await target.transaction(async (account) => {
      await copyRows(rows, account, files.uploads, options);
      await account.claimFiles();
    });
    signal.throwIfAborted();
    await rows.setMark({ kind: 'moved', place: target.shown, ...mark });
    return files.count;
  });
  return complete(target, mark.id, copied);
}

function notMovedFailure(shown: string): Failure {
  return configurationFailure(
    'STORE_NOT_MOVED',
    `the account of ${shown} was not moved to another place`,
    'Name the place that it was moved from.',
  );
}

function complete(target: Place, id: string, files: number): Promise<MovedAccount> {
  return target.transaction(async (account) => {
    const { mark } = await account.state();
    if (mark?.id !== id) throw new Error(`${target.shown} was changed while the account was moved there`);
    await account.removeMark();
    return describe(await readTotals(account), files);
  });
}

function describe({ ledger, remaining: _, reserved, ...counts }: Totals, files: number): MovedAccount {
  return { ...counts, balance_credits: toCredits(ledger), reserved_credits: toCredits(reserved), files };
}

async function checkSource(account: OpenAccount, shown: string): Promise<void> {
  const { version } = await account.state();
  await account.checkFiles();
  if (version !== SCHEMA_VERSION) throw wrongVersionFailure(shown, version);
}

function wrongVersionFailure(shown: string, version: number): Failure {
  const isNewer = version > SCHEMA_VERSION;
  return configurationFailure(
    isNewer ? 'STORE_NEWER' : 'STORE_OLDER',
    `the account of ${shown} was written by ${isNewer ? 'a newer' : 'an older'} version of vloc`,
    isNewer
      ? 'Upgrade vloc on this machine.'
      : '`vloc serve keys list` there upgrades it. Then run this again.',
  );
}

/** Creates the tables, or empties those of an interrupted move. @throws Failure if they have rows of their own */
async function clearTarget(account: OpenAccount, shown: string): Promise<void> {
  const { version, mark } = await account.state();
  if (version === 0) return account.createTables();
  if (version !== SCHEMA_VERSION) throw wrongVersionFailure(shown, version);
  if (mark?.kind === 'arriving') await account.removeMark();
  else if (mark !== null || (await hasRows(account))) throw notEmptyFailure(`${shown} has an account`);
  for (const { name } of accountTables().toReversed()) await account.run(`DELETE FROM ${name}`);
}

/** The first start of a service makes other rows too, such as its secrets, which are worth nothing without these. */
async function hasRows(account: OpenAccount): Promise<boolean> {
  const { keys, jobs, uploads, ledger_entries: entries } = await readTotals(account);
  return keys + jobs + uploads + entries > 0;
}

function notEmptyFailure(message: string): Failure {
  return configurationFailure(
    'TARGET_NOT_EMPTY',
    message,
    'Choose another target, or move that account away first: service.sqlite* in a folder, the schema in a database.',
  );
}

async function copyRows(
  rows: OpenAccount,
  account: OpenAccount,
  uploads: MovedUploads,
  { now, signal }: MoveOptions,
): Promise<void> {
  const rename = (row: Row): Row => {
    const moved = uploads.get(String(row.id));
    return moved === undefined ? row : { ...row, file: moved.file, etag: moved.etag ?? row.etag ?? null };
  };
  for (const table of accountTables()) {
    signal.throwIfAborted();
    const read = await copyTable(rows, account, table, table.name === 'uploads' ? rename : undefined);
    if ((await digestTable(account, table)) !== read)
      throw new Error(`the copy of the table ${table.name} differs`);
  }
  const [before, after] = [await readTotals(rows), await readTotals(account)];
  if (JSON.stringify(before) !== JSON.stringify(after)) throw new Error('the sums of the copy differ');
  await copyTable(rows.nonces, account.nonces, NONCES);
  await account.nonces.run('DELETE FROM nonces WHERE expires_at <= ?', now());
}

async function refuseFiles(files: AccountFiles): Promise<void> {
  const name = await files.findAny();
  if (name !== null) throw notEmptyFailure(`${files.shown} has files of an account, such as ${name}`);
}
