/** Places of an account: in a state folder or in a PostgreSQL database. Opened here, no vloc can use it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configurationFailure, type Failure, usageFailure } from '../../base/failure.ts';
import { sqliteCode } from '../../base/system-error.ts';
import { systemClock } from '../clock.ts';
import { foldersOf, prepareFolders } from '../folders.ts';
import { openCheckedBucket } from '../storage/open-s3.ts';
import { CREATE_MARK, MARK_TABLE, MARKED, type Mark, READ_MARK } from '../store/mark.ts';
import { hasTraces, openAccountAlone } from '../store/open-account.ts';
import { claimFolder, openPostgresAlone, refuseForeignFiles } from '../store/open-postgres.ts';
import { forPostgres, MIGRATIONS, SCHEMA_VERSION } from '../store/schema.ts';
import { openSqliteFile, SQLITE_BUSY, type SqliteFile } from '../store/sqlite-file.ts';
import { statementsOf } from '../store/sqlite-store.ts';
import type { Statements, Store, Transaction } from '../store/store.ts';
import { type AccountFiles, filesOfBucket, filesOfFolder } from './files.ts';

/** A database of an account inside a transaction. */
export interface OpenAccount extends Statements {
  /** The version of the tables, 0 for none, and the mark. */
  state(): Promise<{ readonly version: number; readonly mark: Mark | null }>;
  createTables(): Promise<void>;
  setMark(mark: Mark): Promise<void>;
  removeMark(): Promise<void>;
  /** The database of the nonces. */
  readonly nonces: Statements;
  /** Refuses a folder with the files of another account. */
  checkFiles(): Promise<void>;
  /** Makes the files of the folder those of this account. */
  claimFiles(): Promise<void>;
}

export interface Place {
  /** For messages: a path, or host and name of a database. */
  readonly shown: string;
  readonly files: AccountFiles;
  /** Runs work in a transaction; no other one may be open at this place. */
  transaction<Result>(work: (account: OpenAccount) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** A place as the user names it: a state folder, or a database and the folder with the files of its account. */
export interface PlaceName {
  readonly stateDir: string;
  readonly database?: string | undefined;
  /** The bucket with these files instead, and the variables with its credentials. */
  readonly storage?:
    | { readonly address: string; readonly env: Readonly<Record<string, string | undefined>> }
    | undefined;
}

/** The target may be missing or empty. */
type Role = 'source' | 'target';

/** @throws Failure NO_SERVICE for a source without an account, SERVICE_RUNS if a vloc has the account open */
export const openPlace = (name: PlaceName, role: Role): Promise<Place> =>
  name.database === undefined ? openFolder(name.stateDir, role) : openDatabase(name.database, name, role);

async function openFolder(stateDir: string, role: Role): Promise<Place> {
  if (role === 'source' && !hasTraces(foldersOf(stateDir))) throw noAccountFailure(stateDir);
  const { folders } = await prepareFolders(stateDir);
  const shown = folders.root;
  const file = exclusively(shown, () => openAccountAlone(folders, role === 'source'));
  const nonces = openSqliteFile(join(folders.root, 'nonces.sqlite'), { synchronous: 'NORMAL', advice: '' });
  nonces.script(CREATE_NONCES);
  const readVersion = () => file.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0;
  const setVersion = (version: number) => file.script(`PRAGMA user_version = ${version}`);
  const account: OpenAccount = {
    ...statementsOf(file),
    nonces: statementsOf(nonces),
    async state() {
      const version = readVersion();
      const mark = version < MARKED ? undefined : file.get<Mark>(READ_MARK);
      return { version: version % MARKED, mark: mark ?? null };
    },
    async createTables() {
      for (const step of MIGRATIONS) file.script(step);
      setVersion(SCHEMA_VERSION);
    },
    async setMark({ kind, id, place, at }) {
      file.script(CREATE_MARK);
      file.run(`INSERT INTO ${MARK_TABLE} VALUES (?, ?, ?, ?)`, kind, id, place, at);
      setVersion(readVersion() + MARKED);
    },
    async removeMark() {
      file.script(`DROP TABLE ${MARK_TABLE}`);
      setVersion(readVersion() - MARKED);
    },
    // They are in the same folder.
    checkFiles: async () => {},
    claimFiles: async () => {},
  };
  return {
    shown,
    files: filesOfFolder(folders),
    async transaction(work) {
      file.begin();
      try {
        const result = await work(account);
        file.commit();
        return result;
      } catch (error) {
        file.rollback();
        throw error;
      }
    },
    async close() {
      nonces.close();
      file.close();
    },
  };
}

const CREATE_NONCES = `CREATE TABLE IF NOT EXISTS nonces
  (key_id TEXT NOT NULL, nonce TEXT NOT NULL, expires_at INTEGER NOT NULL, PRIMARY KEY (key_id, nonce)) STRICT, WITHOUT ROWID;`;

function exclusively(shown: string, open: () => SqliteFile): SqliteFile {
  try {
    return open();
  } catch (error) {
    throw sqliteCode(error) === SQLITE_BUSY ? accountInUseFailure(shown, error) : error;
  }
}

function accountInUseFailure(shown: string, cause?: unknown): Failure {
  return configurationFailure(
    'SERVICE_RUNS',
    `a vloc uses the account of ${shown} now`,
    'Stop every vloc that uses it, then run the same command again.',
    {},
    { cause },
  );
}

/** @param shown a folder or a database */
function noAccountFailure(shown: string): Failure {
  return usageFailure(
    'NO_SERVICE',
    `no service has used ${shown}`,
    'Check what --from names, or VLOC_DATABASE without it.',
  );
}

async function openDatabase(url: string, name: PlaceName, role: Role): Promise<Place> {
  const { store, shown } = await openPostgresAlone(url, {
    inUse: accountInUseFailure,
    ...(role === 'source' ? { missing: noAccountFailure } : {}),
  });
  const { files, isOurs, claim, close } = await openFiles(store, shown, name, role).catch(
    async (error: unknown) => {
      await store.close();
      throw error;
    },
  );
  return {
    shown,
    files,
    transaction: (work) =>
      store.transaction(async (tx) => {
        const script = (sql: string) => store.script(tx, forPostgres(sql));
        const setVersion = (change: string) => tx.run(`UPDATE vloc_version SET version = ${change}`);
        const account: OpenAccount = {
          ...tx,
          nonces: tx,
          async state() {
            const row = await tx.get<{ version: number }>('SELECT version FROM vloc_version');
            const version = row?.version ?? 0;
            const mark = version < MARKED ? undefined : await tx.get<Mark>(READ_MARK);
            return { version: version % MARKED, mark: mark ?? null };
          },
          async createTables() {
            for (const step of MIGRATIONS) await script(step);
            await setVersion(String(SCHEMA_VERSION));
          },
          async setMark({ kind, id, place, at }) {
            await script(CREATE_MARK);
            await tx.run(`INSERT INTO ${MARK_TABLE} VALUES (?, ?, ?, ?)`, kind, id, place, at);
            await setVersion(`version + ${MARKED}`);
          },
          async removeMark() {
            await script(`DROP TABLE ${MARK_TABLE}`);
            await setVersion(`version - ${MARKED}`);
          },
          checkFiles: () => isOurs(tx),
          claimFiles: () => claim(tx),
        };
        // The limits of a session are meant for requests, not for copies.
        await store.script(
          tx,
          'SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0',
        );
        return work(account);
      }),
    async close() {
      await close();
      await store.close();
    },
  };
}

/** The files of an account in a database. */
interface DatabaseFiles {
  readonly files: AccountFiles;
  /** @throws Failure if they belong to another account */
  isOurs(tx: Transaction): Promise<void>;
  /** Makes them those of the account. */
  claim(tx: Transaction): Promise<void>;
  close(): Promise<void>;
}

async function openFiles(
  store: Store,
  shown: string,
  { stateDir, storage }: PlaceName,
  role: Role,
): Promise<DatabaseFiles> {
  if (storage === undefined) {
    const folders = role === 'source' ? foldersOf(stateDir) : (await prepareFolders(stateDir)).folders;
    return {
      files: filesOfFolder(folders),
      isOurs: (tx) => refuseForeignFiles(tx, shown, folders.root),
      claim: (tx) => claimFolder(tx, shown, folders.root),
      close: async () => {},
    };
  }
  const opened = await openCheckedBucket(storage.address, storage.env);
  const { bucket, address } = opened;
  // Stands for the state folder of a node, which must not be that of a service.
  const root = await mkdtemp(join(tmpdir(), 'vloc-move-'));
  const close = async () => {
    bucket.close();
    await rm(root, { recursive: true, force: true });
  };
  try {
    // Ties the bucket to the database, or refuses it if it belongs to another one.
    // It would close the store, which is closed with this place.
    await opened.open({
      store: { ...store, close: async () => {} },
      root,
      clock: systemClock,
      now: systemClock.now,
      log: () => {},
    });
  } catch (error) {
    await close();
    throw error;
  }
  const tied = async () => {};
  return { files: filesOfBucket(bucket, address.prefix, address.url), isOurs: tied, claim: tied, close };
}
