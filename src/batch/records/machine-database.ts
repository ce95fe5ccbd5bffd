/** The records of this machine in its state folder: jobs and uploads of all profiles, shared by all processes. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessDiskFails } from '../../base/system-error.ts';
import {
  type Content,
  openRecords,
  type RecordDatabase,
  type Row,
  readRecords,
  type Schema,
} from './database.ts';
import { withMutex } from './hold.ts';
import { inStateFolder } from './private-folder.ts';

const MACHINE_SCHEMA: Schema = {
  // `vloM`
  applicationId: 0x766c6f4d,
  version: 1,
  // Times are RFC 3339, sizes bytes, hashes lower-case hex; columns with objects are JSON.
  sql: `
    CREATE TABLE jobs (
      profile TEXT, id TEXT, job TEXT, state TEXT, downloaded TEXT, checksum TEXT, PRIMARY KEY (profile, id)
    ) STRICT;
    CREATE TABLE publications (
      profile TEXT, job TEXT, path TEXT, sha256 TEXT, size INTEGER, kept TEXT, at TEXT, checksum TEXT,
      PRIMARY KEY (profile, job, path, sha256)
    ) STRICT;
    CREATE TABLE uploads (
      profile TEXT, upload_id TEXT, sha256 TEXT, size INTEGER, purpose TEXT, ready_at TEXT, expires_at TEXT,
      checksum TEXT, PRIMARY KEY (profile, upload_id)
    ) STRICT;
    CREATE INDEX uploads_of_size ON uploads (profile, size);`,
};

function machinePath(stateDir: string): string {
  return join(stateDir, 'records.db');
}

export interface MachineDatabase {
  /** @throws Failure (`disk`, of records) when it is not on the disk */
  write(work: (database: RecordDatabase) => void): Promise<void>;
  /** The rows of a table with these values, in the order in which they were first written. */
  find(table: string, where: Row): Promise<readonly Row[]>;
}

interface Opened {
  /** Identifies the file: another process may have replaced a damaged one, or the user may have removed it. */
  readonly inode: number;
  readonly database: RecordDatabase;
}

/** Databases that this process has written to, by path; they stay open until it ends. */
const opened = new Map<string, Promise<Opened>>();

function open(path: string): Promise<Opened> {
  const next = reopen(path, opened.get(path));
  opened.set(path, next);
  next.catch(() => opened.delete(path));
  return next;
}

async function reopen(path: string, before: Promise<Opened> | undefined): Promise<Opened> {
  const known = await before?.catch(() => undefined);
  if (known !== undefined && known.inode === (await inodeOf(path))) return known;
  await known?.database.close();
  const exclusively = (work: () => Promise<void>) => withMutex(`${path}.lock`, work);
  const { database } = await openRecords(path, MACHINE_SCHEMA, { exclusively });
  return { inode: (await inodeOf(path)) ?? 0, database };
}

async function inodeOf(path: string): Promise<number | null> {
  return (await lstat(path).catch(() => null))?.ino ?? null;
}

/** Nothing is read or written until it is needed. */
export function openMachineDatabase(stateDir: string): MachineDatabase {
  const path = machinePath(stateDir);
  return {
    write: (work) =>
      inStateFolder(async () => {
        const { database } = await open(path);
        await database.write(() => work(database));
      }),
    find: async (table, where) => {
      if ((await inodeOf(path)) === null) return [];
      // In a folder that can only be read, the rows are searched here.
      const writable = await unlessDiskFails(() => open(path), null);
      if (writable !== null) return writable.database.find(table, where);
      const rows = (await readMachine(stateDir)).rows.get(table) ?? [];
      return rows.filter((row) => Object.entries(where).every(([name, value]) => row[name] === value));
    },
  };
}

/** All that can be read, without changing it. */
export function readMachine(stateDir: string): Promise<Content> {
  return inStateFolder(() => readRecords(machinePath(stateDir), MACHINE_SCHEMA));
}
