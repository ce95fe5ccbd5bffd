/** The copy of an account that is made before its tables are migrated, so that an upgrade can be undone. */
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { syncFolderNow } from '../../base/sync.ts';
import { FILE_MODE } from '../folders.ts';
import { openSqliteFile } from './sqlite-file.ts';

/** Tells the operator about the copy. */
export type OnUpgrade = (message: string) => void;

/** @param copy what the copy is called */
export const describeUpgrade = (copy: string) =>
  `the account was upgraded for this version of vloc; ${copy} has its state from before`;

/**
 * Copies a store, and removes older copies. The caller holds the lock for writers, so that the copy is what it migrates.
 * @param version the version of the tables to come
 * @returns the path of the copy, which is whole: a copy that fails is removed
 * @throws SQLite and system errors, such as a full disk
 */
export function copyStoreBefore(path: string, version: number): string {
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

/** The copy of a table in PostgreSQL. It is beside the table, because a user may not be allowed to create schemas. */
export const tableBefore = (table: string, version: number) => `before_${version}_${table}`;

/**
 * Returns the statements that copy tables in PostgreSQL and remove older copies.
 * @param names all tables of the schema
 */
export function copyTablesBefore(
  tables: readonly string[],
  names: ReadonlySet<string>,
  version: number,
): string {
  const older = [...names].filter((name) => /^before_\d+_/.test(name));
  return [
    // As many rows as there are: the limit of a session is meant for requests.
    'SET LOCAL statement_timeout = 0',
    ...older.map((name) => `DROP TABLE ${name}`),
    ...tables.map((table) => `CREATE TABLE ${tableBefore(table, version)} AS TABLE ${table}`),
    '',
  ].join(';\n');
}
