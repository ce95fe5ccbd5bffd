/** Opens the account in a PostgreSQL database, after checks that change nothing, and migrates its tables. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configurationFailure, type Failure } from '../../base/failure.ts';
import { writeOnce } from '../folders.ts';
import { readDatabaseTime } from './database-clock.ts';
import { MARKED } from './mark.ts';
import { describeDatabase, type PostgresAddress } from './postgres-connections.ts';
import { openPostgresStore, type PostgresStore } from './postgres-store.ts';
import {
  describeUpgrade,
  forPostgres,
  type OnUpgrade,
  POSTGRES_STORAGE,
  SCHEMA,
  type Schema,
  tablesOf,
} from './schema.ts';
import type { Statements, Transaction } from './store.ts';

/**
 * Nodes use the time of the database, but a machine whose clock is wrong has wrong times in its log and in its files. Clocks
 * that are set by NTP differ by milliseconds.
 */
const MOST_SKEW_MS = 3_000;

/** The version of the tables, which SQLite has in the header of its file, and what a single process has elsewhere. */
const FIRST = `
CREATE TABLE vloc_version (version BIGINT NOT NULL, folder TEXT);
INSERT INTO vloc_version VALUES (0, NULL);
CREATE TABLE nonces (
  key_id TEXT COLLATE "C" NOT NULL,
  nonce TEXT COLLATE "C" NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (key_id, nonce)
);
CREATE TABLE rates (name TEXT COLLATE "C" PRIMARY KEY, ends_at BIGINT NOT NULL, used BIGINT NOT NULL);
`;

/**
 * Opens the database, creates the tables in an empty one, and migrates those of an older version after copying them. Several
 * nodes may do so concurrently: one migrates, the others wait.
 * @param url `postgres://user@host/database`, with `?schema=NAME` for tables outside the schema `public`
 * @param root the state folder with the files of the account; null if they are elsewhere, or not needed
 * @param now the time of this machine, in ms since 1970
 * @param schema the tables of this program
 * @throws Failure, with nothing changed
 */
export async function openPostgresAccount(
  url: string,
  root: string | null,
  now: () => number,
  onUpgrade: OnUpgrade = () => undefined,
  schema: Schema = SCHEMA,
): Promise<PostgresStore> {
  const address = readAddress(url);
  const shown = describeDatabase(url);
  const store = openPostgresStore(address);
  try {
    await store.refuseSharedSessions();
    await refuseSkew(store, shown, now);
    if (await migrate(store, shown, address, schema)) {
      onUpgrade(describeUpgrade(`${tableBefore('jobs', schema.migrations.length)} and the tables beside it`));
    }
    store.refuseIfNewer(schema.migrations.length, databaseTooNewFailure(shown));
    if (root !== null) await refuseOtherFolder(store, shown, root);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

interface AloneRefusals {
  /** Other connections use the account. */
  readonly inUse: (shown: string) => Failure;
  /** There is no account. Default: its schema is prepared. */
  readonly missing?: (shown: string) => Failure;
}

/**
 * Opens an account of any version and with any mark, while no vloc uses it. Its tables stay as they are.
 * @throws Failure, with nothing changed
 */
export async function openPostgresAlone(
  url: string,
  { inUse, missing }: AloneRefusals,
): Promise<{ store: PostgresStore; shown: string }> {
  const address = readAddress(url);
  const shown = describeDatabase(url);
  const store = openPostgresStore(address, () => inUse(shown));
  try {
    await store.transaction(async (tx) => {
      const hasAccount =
        (await tx.get(
          'SELECT 1 FROM pg_tables WHERE schemaname = ? AND tablename = ?',
          address.schema,
          'vloc_version',
        )) !== undefined;
      if (!hasAccount && missing !== undefined) throw missing(shown);
      await prepareSchema(store, tx, shown, address);
    });
    return { store, shown };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** What follows the host has no `@` and no `#` in an address whose password is encoded. Unencoded, a part of it is taken for that. */
const UNENCODED = /^[^:/]*:\/\/[^/?#]*(?:#|[/?].*[@#])/s;

/** As `decodeURIComponent` in pg demands it. */
function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

const VERIFIED = ['prefer', 'require', 'verify-ca'];

/** @throws Failure for an invalid address, of which nothing is quoted */
function readAddress(url: string): PostgresAddress {
  if (UNENCODED.test(url) || !isDecodable(url)) {
    throw configurationFailure(
      'DATABASE_INVALID',
      'the address of the database has a character that must be encoded, as in a password',
      'Write %40 for @, %2F for /, %3F for ?, %23 for # and %25 for %.',
    );
  }
  const parsed = URL.parse(url);
  const schema = parsed?.searchParams.get('schema') ?? 'public';
  if (
    parsed === null ||
    !/^postgres(?:ql)?:\/\//.test(parsed.href) ||
    !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)
  ) {
    throw configurationFailure(
      'DATABASE_INVALID',
      'this is not the address of a PostgreSQL database',
      'Write it as postgres://user@host/database?schema=public, with the schema in lower-case letters.',
    );
  }
  const { searchParams: given } = parsed;
  given.delete('schema');
  // Modes in which pg verifies the certificate as well, but warns that this may change.
  if (VERIFIED.includes(given.get('sslmode') ?? '') && given.get('uselibpqcompat') !== 'true') {
    given.set('sslmode', 'verify-full');
  }
  return { url: parsed.href, schema };
}

async function refuseSkew(store: Statements, shown: string, now: () => number): Promise<void> {
  const before = now();
  const time = await readDatabaseTime(store);
  const skew = Math.round((before + now()) / 2) - time;
  if (Math.abs(skew) <= MOST_SKEW_MS) return;
  const seconds = Math.round(Math.abs(skew) / 1000);
  throw configurationFailure(
    'CLOCK_SKEW',
    `the clock of this machine is ${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} that of the database ${shown}`,
    'Set both clocks (NTP), then start again.',
  );
}

/** The name of the file that says which account the files of a folder belong to. */
export const FOLDER_ID = 'database.id';
/** Start of the same for a cluster whose files are in a bucket. */
export const OF_A_BUCKET = 's3:';

/** Bytes of uploads and results are in the folder, so that nodes with another one would lose each other's. */
async function refuseOtherFolder(store: Statements, shown: string, root: string): Promise<void> {
  const path = join(root, FOLDER_ID);
  await writeOnce(path, randomUUID());
  await store.run('UPDATE vloc_version SET folder = ? WHERE folder IS NULL', await readFile(path, 'utf8'));
  await refuseForeignFiles(store, shown, root);
}

/** Makes the files of a folder those of the account. */
export async function claimFolder(tx: Transaction, shown: string, root: string): Promise<void> {
  await tx.run('UPDATE vloc_version SET folder = NULL');
  await refuseOtherFolder(tx, shown, root);
}

/** Refuses a folder that does not have the files of the account, which may have none yet. */
export async function refuseForeignFiles(store: Statements, shown: string, root: string): Promise<void> {
  const own = await readFile(join(root, FOLDER_ID), 'utf8').catch(() => null);
  const row = await store.get<{ folder: string | null }>('SELECT folder FROM vloc_version');
  if ((row?.folder ?? own) === own) return;
  if (row?.folder?.startsWith(OF_A_BUCKET) === true) {
    throw configurationFailure(
      'DATABASE_OF_ANOTHER',
      `the database ${shown} belongs to a cluster that keeps uploads and results in a bucket`,
      'Name its bucket with --storage or VLOC_STORAGE, or choose another database.',
    );
  }
  throw configurationFailure(
    'DATABASE_OF_ANOTHER',
    `the database ${shown} belongs to another state folder than ${root}`,
    'Choose the folder that its other nodes use with --state-dir, or another database.',
  );
}

const HAS_OLDEST = `SELECT 1 FROM pg_attribute
  WHERE attrelid = 'vloc_version'::regclass AND attname = 'oldest' AND NOT attisdropped`;
const ADD_OLDEST = 'ALTER TABLE vloc_version ADD COLUMN oldest BIGINT NOT NULL DEFAULT 0';

/** Creates the schema and the tables that have no version. @returns the names of all tables that were there */
async function prepareSchema(
  store: PostgresStore,
  tx: Transaction,
  shown: string,
  { schema }: PostgresAddress,
): Promise<Set<string>> {
  const found = await tx.get<{ encoding: string }>('SELECT getdatabaseencoding()::text AS encoding');
  if (found?.encoding !== 'UTF8') throw wrongEncodingFailure(shown, found?.encoding ?? 'unknown');
  // Creating one that exists takes a permission that it does not need.
  const isThere = (await tx.get('SELECT 1 FROM pg_namespace WHERE nspname = ?', schema)) !== undefined;
  if (!isThere) await tx.run(`CREATE SCHEMA ${schema}`);
  const tables = await tx.all<{ name: string }>(
    'SELECT tablename::text AS name FROM pg_tables WHERE schemaname = current_schema()',
  );
  const names = new Set(tables.map(({ name }) => name));
  if (!names.has('vloc_version')) {
    if (names.size > 0) throw foreignDatabaseFailure(shown);
    await store.script(tx, FIRST);
  }
  // Changing a table that needs no change would make every other connection wait.
  const hasOldest = (await tx.get(HAS_OLDEST)) !== undefined;
  if (!hasOldest) await store.script(tx, ADD_OLDEST);
  return names;
}

/** Returns true if it has migrated tables of an older version. */
function migrate(
  store: PostgresStore,
  shown: string,
  address: PostgresAddress,
  { migrations, oldestProgram }: Schema,
): Promise<boolean> {
  const known = migrations.length;
  return store.transaction(async (tx) => {
    const names = await prepareSchema(store, tx, shown, address);
    const found = await tx.get<{ version: number; oldest: number }>(
      'SELECT version, oldest FROM vloc_version',
    );
    const { version, oldest } = found ?? { version: 0, oldest: 0 };
    // A program from before there was `oldest` leaves 0 beside a newer version.
    if (version > known && (oldest === 0 || oldest > known || version >= MARKED))
      throw databaseTooNewFailure(shown);
    if (version >= known) return false;
    if (version > 0) await store.script(tx, copyTablesBefore(tablesOf(version), names, known));
    for (const step of migrations.slice(version)) await store.script(tx, forPostgres(step));
    await store.script(tx, POSTGRES_STORAGE);
    await tx.run('UPDATE vloc_version SET version = ?, oldest = ?', known, oldestProgram);
    return version > 0;
  }, 'long');
}

/** The copy of a table in PostgreSQL. It is beside the table, because a user may not be allowed to create schemas. */
const tableBefore = (table: string, version: number) => `before_${version}_${table}`;

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

function wrongEncodingFailure(shown: string, encoding: string): Failure {
  return configurationFailure(
    'DATABASE_UNUSABLE',
    `the database ${shown} keeps texts as ${encoding}, not as UTF8`,
    'Create another database for vloc: createdb --encoding=UTF8 --template=template0 NAME',
  );
}

function foreignDatabaseFailure(shown: string): Failure {
  return configurationFailure(
    'DATABASE_FOREIGN',
    `the database ${shown} has tables of another program`,
    'Create a database for vloc alone: createdb vloc',
  );
}

function databaseTooNewFailure(shown: string): Failure {
  return configurationFailure(
    'STORE_NEWER',
    `the database ${shown} was written by a newer version of vloc`,
    'Upgrade vloc on this machine.',
  );
}
