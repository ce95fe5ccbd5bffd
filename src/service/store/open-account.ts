/** Opens the store of an account after checking it, because writing to a damaged store makes the damage worse. */
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { diskFailure, type Failure, temporaryFailure } from '../../base/failure.ts';
import { syncFolderNow } from '../../base/sync.ts';
import { sqliteCode } from '../../base/system-error.ts';
import { FILE_MODE, type Folders, storePath } from '../folders.ts';
import { MARK_TABLE, type Mark, markedFolderFailure, READ_MARK } from './mark.ts';
import { describeUpgrade, migrateSchema, type OnUpgrade, SCHEMA_VERSION } from './schema.ts';
import {
  BUSY_TIMEOUT_MS,
  damagedDatabaseFailure,
  openSqliteFile,
  SQLITE_BUSY,
  type SqliteFile,
} from './sqlite-file.ts';
import { createSqliteStore } from './sqlite-store.ts';
import type { Store } from './store.ts';

/**
 * Up to this size, about a thousand jobs, all pages are read at each start. Measured on a busy machine: 4 to 23 ms for
 * 2.5 MB, up to 409 ms for 24 MB, 11 s for 239 MB. More would slow down the start of a command too much.
 */
const CHECKED_WHOLE_BYTES = 4_194_304;

/** One result is enough to identify the damage. A damaged file has thousands of such rows. */
const QUICK_CHECK = 'PRAGMA quick_check(1)';

interface AccountEvents {
  /** Called at each statement that finds damage later. */
  readonly onFailure?: ((failure: Failure) => void) | undefined;
  readonly onUpgrade?: OnUpgrade;
}

/**
 * Opens the store, or creates it if no service has used the folder, and migrates its tables to the newest version, after
 * copying those of an older one.
 * @throws Failure, with nothing changed; SQLite errors
 */
export function openAccountStore(folders: Folders, events: AccountEvents = {}): Store {
  try {
    return openAndMigrate(folders, events);
  } catch (error) {
    throw sqliteCode(error) === SQLITE_BUSY ? storeLockedFailure(storePath(folders.root), error) : error;
  }
}

/** @param path of the store */
export function storeLockedFailure(path: string, cause: unknown): Failure {
  return temporaryFailure(
    'STORE_LOCKED',
    `another process has written to the store ${path} for ${BUSY_TIMEOUT_MS / 1000} s`,
    'Wait until it has finished, then run the same command again.',
    { retryable: true },
    { cause },
  );
}

function openAndMigrate(
  folders: Folders,
  { onFailure = () => undefined, onUpgrade = () => undefined }: AccountEvents,
): Store {
  const path = storePath(folders.root);
  const advice = adviceFor(folders.root);
  refuseLost(path, folders, advice);
  const file = openSqliteFile(path, {
    synchronous: 'FULL',
    advice,
    onFailure,
    inspect: (opened) => inspect(opened, path, folders, advice),
  });
  try {
    let copy: string | null = null;
    migrateSchema(file, () => {
      copy = copyStoreBefore(path, SCHEMA_VERSION);
    });
    if (copy !== null) onUpgrade(describeUpgrade(copy));
    return createSqliteStore(file);
  } catch (error) {
    file.close();
    throw error;
  }
}

/**
 * Copies a store, and removes older copies. The caller holds the lock for writers, so that the copy is what it migrates.
 * @param version the version of the tables to come
 * @returns the path of the copy, which is whole: a copy that fails is removed
 * @throws SQLite and system errors, such as a full disk
 */
function copyStoreBefore(path: string, version: number): string {
  const folder = dirname(path);
  const copy = `${path}.before-${version}`;
  const draft = `${copy}.part`;
  rmSync(draft, { force: true });
  // SQLite writes into an empty file that exists, with its permissions.
  closeSync(openSync(draft, 'wx', FILE_MODE));
  try {
    // Another connection: in a transaction, SQLite refuses VACUUM.
    const source = openSqliteFile(path, { synchronous: 'FULL', advice: 'Restore a backup.' });
    try {
      source.run('VACUUM INTO ?', draft);
    } finally {
      source.close();
    }
    flush(draft);
    renameSync(draft, copy);
    syncFolderNow(folder);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  const isOlder = (name: string) => name.startsWith(`${basename(path)}.before-`) && name !== basename(copy);
  for (const name of readdirSync(folder).filter(isOlder)) rmSync(join(folder, name), { force: true });
  return copy;
}

function flush(path: string): void {
  const handle = openSync(path, 'r+');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Opens the store of any version and with any mark, with its tables as they are, while no other process has it open.
 * @param isSource false for a store that may be missing next to files
 * @throws SQLITE_BUSY; Failure, with nothing changed
 */
export function openAccountAlone(folders: Folders, isSource: boolean): SqliteFile {
  const path = storePath(folders.root);
  const advice = adviceFor(folders.root);
  if (isSource) refuseLost(path, folders, advice);
  const inspectIfOld = (opened: SqliteFile) => {
    if (isSource || tableNames(opened).size > 0) inspect(opened, path, folders, advice, true);
  };
  return openSqliteFile(path, { synchronous: 'FULL', advice, alone: true, inspect: inspectIfOld });
}

/** Returns whether a service has used the folder, even if its store is missing. */
export function hasTraces(folders: Pick<Folders, 'root' | 'uploads' | 'assets'>): boolean {
  const path = storePath(folders.root);
  return sizeOf(path) !== null || (sizeOf(`${path}-wal`) ?? 0) > 0 || holdsFiles(folders);
}

function adviceFor(root: string): string {
  return (
    `Stop every vloc that uses ${root}, then put a backup back as the section "Backup" of docs/service.md says. ` +
    'Without a backup, move service.sqlite, service.sqlite-wal, uploads and assets to another folder and start again: ' +
    'that begins a new account. Its keys are new; credits, the list of jobs, and results not downloaded are lost.'
  );
}

/**
 * Called before SQLite opens the store: SQLite deletes the log of an empty database, and the log may contain all remaining
 * data.
 */
function refuseLost(path: string, folders: Folders, advice: string): void {
  // Checked before the store: another process that creates it writes all this only after the store itself.
  const hasData = (sizeOf(`${path}-wal`) ?? 0) > 0 || holdsFiles(folders);
  const size = sizeOf(path);
  if (!hasData || (size !== null && size > 0)) return;
  throw damagedDatabaseFailure(
    path,
    `it is ${size === null ? 'missing' : 'empty'}, but ${dirname(path)} has data of a service`,
    advice,
  );
}

const readVersion = (file: SqliteFile) =>
  file.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0;

function tableNames(file: SqliteFile): Set<string> {
  const found = file.all<{ name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table'`);
  return new Set(found.map(({ name }) => name));
}

/**
 * Checks a store of any size. The file may also belong to another application.
 * @param allowsMark whether the account may be marked as being elsewhere
 */
function inspect(file: SqliteFile, path: string, folders: Folders, advice: string, allowsMark = false): void {
  const version = readVersion(file);
  const names = tableNames(file);
  if (version === 0 && names.size === 0) {
    if (!holdsFiles(folders)) return;
    throw damagedDatabaseFailure(path, `it is empty, but ${folders.root} has data of a service`, advice);
  }
  if (!names.has('keys')) {
    const elsewhere =
      'Choose another state folder with VLOC_STATE_DIR or --state-dir, or move that file away.';
    throw damagedDatabaseFailure(path, 'it is the database of another program', elsewhere);
  }
  if (version > SCHEMA_VERSION) {
    const mark = names.has(MARK_TABLE) ? file.get<Mark>(READ_MARK) : undefined;
    if (mark === undefined) throw schemaTooNewFailure(path);
    if (!allowsMark) throw markedFolderFailure(mark, folders.root);
  }
  const size = (sizeOf(path) ?? 0) + (sizeOf(`${path}-wal`) ?? 0);
  if (size > CHECKED_WHOLE_BYTES) return;
  const answer = file.get<{ quick_check: string }>(QUICK_CHECK)?.quick_check;
  if (answer !== 'ok')
    throw damagedDatabaseFailure(path, 'it is damaged', advice, new Error(answer ?? 'no answer'));
}

function schemaTooNewFailure(path: string): Failure {
  return diskFailure(
    'STORE_NEWER',
    `the store ${path} was written by a newer version of vloc`,
    'Upgrade vloc, or choose another state folder with VLOC_STATE_DIR or --state-dir.',
  );
}

/** Returns null if the file does not exist. */
function sizeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null;
}

/** Only a service with keys accepts uploads and creates results. */
function holdsFiles({ uploads, assets }: Pick<Folders, 'uploads' | 'assets'>): boolean {
  return [uploads, assets].some((folder) => sizeOf(folder) !== null && readdirSync(folder).length > 0);
}
