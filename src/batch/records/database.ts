/**
 * SQLite files with records: one writer at a time, readers beside it, and no row that is lost or changed unnoticed. The
 * rollback journal, not the write-ahead log, since the latter needs shared memory, which network folders do not have.
 */
import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { diskFailure, Failure, temporaryFailure, usageFailure } from '../../base/failure.ts';
import { syncFolderNow } from '../../base/sync.ts';
import { diskCodeOfSqlite, fileSystemFailure, onDisk, sqliteCode } from '../../base/system-error.ts';
import { shortDigest } from '../short-digest.ts';
import { makePrivateFolder } from './private-folder.ts';

type Value = string | number | null;

export type Row = Readonly<Record<string, Value>>;

/** Tables of a database file, and the marks by which vloc recognizes its own files. */
export interface Schema {
  /** Four characters as a number, in the header of the file. */
  readonly applicationId: number;
  readonly version: number;
  /** `CREATE TABLE` statements. Each table is STRICT and has a column `checksum`. */
  readonly sql: string;
  /** Writes that records may be missing, in the transaction that creates the file again. */
  readonly noteDamage?: (database: RecordDatabase, places: readonly string[], kept: string | null) => void;
}

export interface RecordDatabase {
  /** Rows with these values, in the order in which they were first written. @throws Failure if one is damaged */
  find(table: string, where?: Row): Row[];
  /** The values that a column has, each once. */
  values(table: string, column: string): Value[];
  /** Inserts a row or changes columns of the row with this key. */
  change(table: string, key: Row, columns: Row): void;
  remove(table: string, where: Row): void;
  /**
   * Runs the work in a transaction, together with everything else that was asked for in this turn of the event loop. Resolves
   * when it is on the disk. @throws Failure, with nothing written
   */
  write(work: () => void): Promise<void>;
  /** Ends when all writing has ended. */
  close(): Promise<void>;
}

/** The readable rows of a file by table, and a sentence for each place that cannot be read. */
export interface Content {
  readonly rows: ReadonlyMap<string, readonly Row[]>;
  readonly damage: readonly string[];
}

/** How long a statement waits while another process has the file locked; reading or writing takes milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * `synchronous = FULL` and the truncated journal, which is synced: a commit survives a power cut. With the deleted one of the
 * default, the deletion might be undone, and with it the commit.
 */
const DURABLE = 'PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL;';

export interface OpenRecords {
  readonly database: RecordDatabase;
  /** True if an earlier process ended while it wrote, or the disk lost the end of a write: its last records are missing. */
  readonly isCutOff: boolean;
}

interface OpenOptions {
  /** Runs work that no other process may do at the same time; missing if the caller has a lock. */
  readonly exclusively?: (work: () => Promise<void>) => Promise<void>;
  /** Called after a transaction that failed. */
  readonly onRollback?: () => void;
}

/**
 * Opens the file for writing and checks all of it. A new one is 0600, and its name is durable. A damaged one keeps its bytes
 * under another name, and a new one gets its readable rows.
 * @throws Failure (`disk`; `temporary`, RECORDS_BUSY; `usage`, RECORDS_OLD, RECORDS_TOO_NEW)
 */
export async function openRecords(
  path: string,
  schema: Schema,
  { exclusively = (work) => work(), onRollback }: OpenOptions = {},
): Promise<OpenRecords> {
  return onDisk(path, async () => {
    await makePrivateFolder(dirname(path));
    const isCutOff = (lstatSync(`${path}-journal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    if (lookAt(path, schema)?.damage.length !== 0) await exclusively(() => repair(path, schema));
    return { database: createDatabase(path, connect(path, DURABLE), onRollback), isCutOff };
  });
}

/**
 * Reads all rows while others may be writing, without changing anything; a file that is not there has none.
 * @throws Failure (`disk`; `temporary`, RECORDS_BUSY; `usage`, RECORDS_OLD, RECORDS_TOO_NEW)
 */
export async function readRecords(path: string, schema: Schema): Promise<Content> {
  return onDisk(path, async () => {
    if (!requireFile(path)) return { rows: new Map(), damage: [] };
    return explained(path, () => {
      try {
        return readAll(path, schema, new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS }));
      } catch (error) {
        if (sqliteCode(error) !== SQLITE_READONLY) throw error;
        // A process was killed while it wrote: only who may write can undo what it began, so a copy is read.
        return readCopy(path, schema);
      }
    });
  });
}

function readAll(path: string, schema: Schema, connection: DatabaseSync): Content {
  try {
    return readContent(path, connection, schema);
  } finally {
    connection.close();
  }
}

function readCopy(path: string, schema: Schema): Content {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-records-'));
  try {
    const copy = join(folder, basename(path));
    for (const end of ['', '-journal']) copyFileSync(path + end, copy + end);
    return readAll(path, schema, connect(copy));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Such as a table that is not there. */
const SQLITE_ERROR = 1;
const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGED: readonly (number | null)[] = [11, 26];

/** @param first statements to begin with */
function connect(path: string, first = ''): DatabaseSync {
  return explained(path, () => {
    const connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      connection.exec(first);
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  });
}

/** False if there is none. @throws an error of the file system for anything but a file: SQLite would follow a link */
function requireFile(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return found !== undefined;
  const code = found.isSymbolicLink() ? 'ELOOP' : found.isDirectory() ? 'EISDIR' : 'EINVAL';
  throw Object.assign(new Error(code), { code });
}

/** Checks the file, and undoes what a killed process began; null if it is not there. */
function lookAt(path: string, schema: Schema): Content | null {
  if (!requireFile(path)) return null;
  // Without that right SQLite would call the disk read-only. Opening the file here would end the locks of this process.
  accessSync(path, constants.W_OK);
  return explained(path, () => readAll(path, schema, connect(path)));
}

/** Creates the file, and keeps a damaged one under another name. */
async function repair(path: string, schema: Schema): Promise<void> {
  const found = lookAt(path, schema);
  if (found?.damage.length === 0) return;
  const draft = `${path}.new`;
  const aside = listAside(path);
  const next = `${path}.damaged-${aside.length + 1}`;
  const kept = found === null ? (aside[0] ?? null) : basename(next);
  const missing = aside.length === 0 ? [] : [`${path} is missing, and damaged ones are beside it`];
  const places = found?.damage ?? missing;
  try {
    await createFile(draft, schema, (database) => {
      for (const [table, rows] of found?.rows ?? []) {
        for (const row of rows) database.change(table, row, {});
      }
      if (places.length > 0) schema.noteDamage?.(database, places, kept);
    });
    if (found !== null) moveAside(path, next);
    renameSync(draft, path);
    syncFolderNow(dirname(path));
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Names of damaged files that were kept beside the file. */
function listAside(path: string): readonly string[] {
  const begin = `${basename(path)}.damaged-`;
  const names = readdirSync(dirname(path));
  return names.filter((name) => name.startsWith(begin) && /^\d+$/.test(name.slice(begin.length)));
}

/** The file first: a journal without its file is ignored, but a file without its journal may look whole. */
function moveAside(path: string, next: string): void {
  renameSync(path, next);
  if (existsSync(`${path}-journal`)) renameSync(`${path}-journal`, `${next}-journal`);
  syncFolderNow(dirname(path));
}

async function createFile(
  path: string,
  { applicationId, version, sql }: Schema,
  fill: (database: RecordDatabase) => void,
): Promise<void> {
  rmSync(path, { force: true });
  rmSync(`${path}-journal`, { force: true });
  closeSync(openSync(path, 'wx', 0o600));
  const marks = `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version};`;
  const database = createDatabase(path, connect(path, `${DURABLE} BEGIN; ${marks} ${sql} COMMIT;`));
  await database
    .write(() => fill(database))
    .finally(async () => {
      await database.close();
      rmSync(`${path}-journal`, { force: true });
    });
}

/**
 * All rows that can be read and are as they were written. Rows on both sides of a damaged page are found by reading from both
 * ends.
 */
function readContent(path: string, connection: DatabaseSync, schema: Schema): Content {
  const damage = new Set<string>();
  const rows = new Map<string, readonly Row[]>();
  const report = (what: string) => damage.add(`${path} is damaged: ${what}`);
  /** False if the work met a damaged place. */
  const attempt = (work: () => void) => {
    try {
      work();
      return true;
    } catch (error) {
      if (!DAMAGED.includes(sqliteCode(error))) throw error;
      report((error as Error).message); // only an error has a code
      return false;
    }
  };
  attempt(() => {
    const { application_id: id } = connection.prepare('PRAGMA application_id').get() ?? {};
    const { user_version: version } = connection.prepare('PRAGMA user_version').get() ?? {};
    if (id !== schema.applicationId) return report('it does not begin like a record of vloc');
    if (Number(version) > schema.version) throw tooNewFailure(path);
    if (Number(version) < schema.version) throw tooOldFailure(path);
    // `quick_check` does not compare an index with its table, and a row that a look-up does not find may be paid again.
    for (const { integrity_check: found } of connection.prepare('PRAGMA integrity_check(3)').iterate()) {
      if (found !== 'ok') report(String(found).replace(/^.*\n/s, ''));
    }
  });
  for (const [, table = ''] of schema.sql.matchAll(/CREATE TABLE (\w+)/g)) {
    const whole = new Map<number, Row>();
    const readAll = (order: 'ASC' | 'DESC') => {
      const all = connection.prepare(
        `SELECT rowid AS place, * FROM ${table} NOT INDEXED ORDER BY rowid ${order}`,
      );
      for (const { place, ...row } of all.iterate()) {
        if (isWhole(row)) whole.set(Number(place), withoutChecksum(row));
        else report(`row ${place} of ${table} is not as it was written`);
      }
    };
    try {
      if (!attempt(() => readAll('ASC'))) attempt(() => readAll('DESC'));
    } catch (error) {
      if (sqliteCode(error) !== SQLITE_ERROR) throw error;
      report(`it has no table ${table}`);
    }
    rows.set(
      table,
      [...whole].sort(([one], [other]) => one - other).map(([, row]) => row),
    );
  }
  return { rows, damage: [...damage] };
}

type FoundRow = Readonly<Record<string, unknown>>;

function isWhole(row: FoundRow): boolean {
  return row.checksum === checksumOf(withoutChecksum(row));
}

function withoutChecksum({ checksum: _, ...row }: FoundRow): Row {
  return row as Row; // the tables are STRICT and have neither blobs nor large integers
}

/** SQLite notices a damaged page, but not a changed byte in a value, and a changed key may be paid for a second time. */
function checksumOf(row: Row): string {
  const values = Object.entries(row).filter(([, value]) => value !== null);
  return shortDigest(JSON.stringify(values.sort(([one], [other]) => (one < other ? -1 : 1))));
}

/** SQLite replaces halves of characters, which names on Windows and messages of services may have. */
function wellFormed(row: Row): Row {
  const values = Object.entries(row).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.toWellFormed() : value,
  ]);
  return Object.fromEntries(values);
}

interface Waiting {
  readonly work: () => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export function createDatabase(
  path: string,
  connection: DatabaseSync,
  onRollback: () => void = () => undefined,
): RecordDatabase {
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    const known = statements.get(sql) ?? connection.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  const find = (table: string, where: Row = {}) => {
    const rows = explained(path, () =>
      prepare(`SELECT * FROM ${table}${conditionOf(where)} ORDER BY rowid`).all(where),
    );
    if (!rows.every(isWhole)) throw damagedFailure(path);
    return rows.map(withoutChecksum);
  };
  let waiting: Waiting[] = [];

  function flush(): void {
    const group = waiting;
    waiting = [];
    if (group.length === 0) return;
    try {
      explained(path, () => {
        connection.exec('BEGIN IMMEDIATE');
        for (const { work } of group) work();
        connection.exec('COMMIT');
      });
    } catch (error) {
      // A full disk ends the transaction by itself.
      if (connection.isTransaction) connection.exec('ROLLBACK');
      onRollback();
      for (const { reject } of group) reject(error);
      return;
    }
    for (const { resolve } of group) resolve();
  }

  return {
    find,
    values(table, column) {
      const found = explained(path, () => prepare(`SELECT DISTINCT ${column} AS value FROM ${table}`).all());
      return found.map(({ value }) => value as Value); // the tables are STRICT and have neither blobs nor large integers
    },
    change(table, key, columns) {
      const [before] = find(table, key);
      const row = wellFormed({ ...before, ...key, ...columns });
      const all: Record<string, SQLInputValue> = { ...row, checksum: checksumOf(row) };
      const names = Object.keys(all);
      const update = names.map((name) => `${name} = excluded.${name}`).join();
      const values = names.map((name) => `:${name}`).join();
      prepare(`INSERT INTO ${table} (${names}) VALUES (${values}) ON CONFLICT DO UPDATE SET ${update}`).run(
        all,
      );
    },
    remove(table, where) {
      prepare(`DELETE FROM ${table}${conditionOf(where)}`).run(where);
    },
    write(work) {
      return new Promise((resolve, reject) => {
        waiting.push({ work, resolve, reject });
        if (waiting.length === 1) setImmediate(flush);
      });
    },
    async close() {
      flush();
      connection.close();
    },
  };
}

function conditionOf(where: Row): string {
  const names = Object.keys(where);
  return names.length === 0 ? '' : ` WHERE ${names.map((name) => `${name} IS :${name}`).join(' AND ')}`;
}

function explained<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explain(error, path);
  }
}

/** Returns the Failure for an SQLite error; other errors unchanged. */
function explain(error: unknown, path: string): unknown {
  const code = sqliteCode(error);
  if (error instanceof Failure || code === null) return error;
  if (DAMAGED.includes(code)) return damagedFailure(path, error);
  if (code === SQLITE_BUSY) return busyFailure(path, error);
  if (code === SQLITE_IOERR && isAboutLocks(error)) return noLocksFailure(path, error);
  const disk = diskCodeOfSqlite(error);
  if (disk === null) return error;
  return fileSystemFailure(Object.assign(new Error(disk, { cause: error }), { code: disk }), path);
}

/** SQLITE_IOERR_UNLOCK, _RDLOCK, _CHECKRESERVEDLOCK, _LOCK. Source: SQLite, "Result and Error Codes". */
const LOCK_ERRORS: readonly number[] = [8, 9, 14, 15];

function isAboutLocks(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && LOCK_ERRORS.includes(Number(error.errcode) >> 8);
}

function damagedFailure(path: string, cause?: unknown): Failure {
  const message = `the record ${path} is damaged`;
  const advice =
    'Run the same command again: it keeps the file under another name and asks the service for its jobs.';
  return diskFailure('JOURNAL_DAMAGED', message, advice, {}, { cause });
}

function busyFailure(path: string, cause: unknown): Failure {
  const message = `the record ${path} is locked by another program, or its file system cannot lock files`;
  const advice = 'Run the same command again, or choose a folder on another disk.';
  return temporaryFailure('RECORDS_BUSY', message, advice, { retryable: true }, { cause });
}

function noLocksFailure(path: string, cause: unknown): Failure {
  const message = `cannot lock ${path}: its file system has no file locks, so two runs could pay for the same items`;
  return diskFailure(
    'DISK_ERROR',
    message,
    'Choose a folder on another disk.',
    { retryable: false },
    { cause },
  );
}

/** The failure of records that this version cannot read. */
export function tooOldFailure(path: string): Failure {
  return usageFailure(
    'RECORDS_OLD',
    `${path} was written by a version of vloc before its first release, which this version cannot read; nothing was sent`,
    `Finish the batch with that version, or give this run another folder with --out. If its items may be paid again, remove ${path}.`,
  );
}

function tooNewFailure(path: string): Failure {
  return usageFailure(
    'RECORDS_TOO_NEW',
    `${path} was written by a newer version of vloc`,
    'Update vloc, or give this run another folder. Nothing was sent.',
  );
}
