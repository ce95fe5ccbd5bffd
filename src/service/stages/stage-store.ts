/**
 * Finished stages on disk: their files in one folder each, and a database beside the account's, which may be removed at
 * any time. Every use is checked against the hashes of the time when the stage was finished.
 */
import { createHash, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { chmod, copyFile, link, mkdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../../base/failure.ts';
import { freeBytes, makeFolder } from '../../base/folder.ts';
import { hashFile } from '../../base/hash-file.ts';
import { errorCode } from '../../base/system-error.ts';
import { FILE_MODE, FOLDER_MODE } from '../folders.ts';
import { LEASE_MS } from '../running/leases.ts';
import { openSqliteFile, type SqliteFile } from '../store/sqlite-file.ts';

/** The result of a stage. */
export interface PackedResult {
  /** JSON, in which files have names instead of paths. */
  readonly value: string;
  readonly names: readonly string[];
}

export interface StageStore {
  /**
   * Returns the result of a stage, with its files linked into a folder. Removes a result that is damaged.
   * @returns null if there is none
   */
  take(key: string, folder: string, now: number): Promise<PackedResult | null>;
  /**
   * Keeps a result whose files are in a folder, if there is room; removes those that were not used for longest.
   * @param expiresAt ms since 1970
   */
  keep(key: string, result: PackedResult, folder: string, expiresAt: number, now: number): Promise<void>;
  /** Claims a stage in order to compute it. Returns false if it is finished, or if it is claimed already. */
  claim(key: string, owner: string, now: number): boolean;
  /** Whether a claim can succeed, or a result is there. */
  isSettled(key: string, now: number): boolean;
  /** Extends a claim, even if a sweep has removed it while the machine was suspended. */
  renew(key: string, owner: string, now: number): void;
  release(key: string, owner: string): void;
  /**
   * Whether a folder belongs to a result or to a stage that is being computed: one with the name of its claim, or with the
   * start of that name before a dot.
   */
  isKnown(folder: string, now: number): boolean;
  /** Removes expired results, and those that exceed the limit since the disk has become fuller. */
  sweep(now: number): Promise<void>;
  /** Removes all results that have files. Returns whether there were any. */
  empty(): Promise<boolean>;
  close(): void;
}

interface ResultRow {
  readonly folder: string;
  readonly value: string;
  /** JSON of the names of the files, in order. */
  readonly names: string;
  /** JSON of their hashes, in order; then the hash of `value` and `names`. */
  readonly hashes: string;
}

const TABLES = `
CREATE TABLE IF NOT EXISTS results (
  key TEXT PRIMARY KEY,
  folder TEXT NOT NULL,
  value TEXT NOT NULL,
  names TEXT NOT NULL,
  hashes TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS results_by_use ON results (used_at);
CREATE TABLE IF NOT EXISTS claims (
  key TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;`;

const ADVICE = 'Remove this file and the ones whose names begin with it: it contains no jobs and no credits.';

/** Opens the database. A damaged one is replaced: everything in it can be computed again. */
function openDatabase(path: string): SqliteFile {
  const open = () => {
    const file = openSqliteFile(path, { synchronous: 'NORMAL', advice: ADVICE });
    try {
      file.script(TABLES);
      return file;
    } catch (error) {
      file.close();
      throw error;
    }
  };
  try {
    return open();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    for (const ending of ['', '-wal', '-shm']) rmSync(path + ending, { force: true });
    return open();
  }
}

/**
 * Opens the store of finished stages. Several processes may share it.
 * @param root folder of the files
 * @param path file of the database
 * @param maxBytes most bytes of all results
 * @throws SQLite errors
 */
export function openStageStore(root: string, path: string, maxBytes: number): StageStore {
  const store = openDatabase(path);

  /** First all files: on a full disk no record can be removed before. A result without files is computed again. */
  const remove = async (...rows: readonly { key: string; folder: string }[]) => {
    for (const { folder } of rows) await rm(join(root, folder), { recursive: true, force: true });
    for (const { key, folder } of rows) {
      store.run('DELETE FROM results WHERE key = ? AND folder = ?', key, folder);
    }
  };

  /** Removes results, those that were not used for longest first, until there is room for more bytes. */
  const makeRoom = async (bytes: number): Promise<boolean> => {
    const free = await freeBytes(root);
    const sum = () =>
      store.get<{ total: number | null }>('SELECT sum(bytes) AS total FROM results')?.total ?? 0;
    // The other half of the disk is for work and results.
    const limit = Math.min(maxBytes, ((free ?? Number.POSITIVE_INFINITY) + sum() + bytes) / 2);
    if (bytes > limit) return false;
    while (sum() + bytes > limit) {
      const oldest = store.get<{ key: string; folder: string }>(
        'SELECT key, folder FROM results ORDER BY used_at LIMIT 1',
      );
      if (oldest === undefined) break;
      await remove(oldest);
    }
    return true;
  };

  const hasResult = (key: string, now: number) =>
    store.get('SELECT 1 FROM results WHERE key = ? AND expires_at > ?', key, now) !== undefined;

  return {
    async take(key, folder, now) {
      const row = store.get<ResultRow>(
        'SELECT folder, value, names, hashes FROM results WHERE key = ? AND expires_at > ?',
        key,
        now,
      );
      if (row === undefined) return null;
      const result = await readResult(row, join(root, row.folder), folder);
      if (result === null) await remove({ key, folder: row.folder });
      else store.run('UPDATE results SET used_at = ? WHERE key = ?', now, key);
      return result;
    },
    async keep(key, { value, names }, from, expiresAt, now) {
      if (expiresAt <= now) return;
      const folder = randomUUID();
      const target = join(root, folder);
      let kept = false;
      try {
        const sizes = await Promise.all(names.map(async (name) => (await stat(join(from, name))).size));
        const bytes = sizes.reduce((sum, size) => sum + size, value.length);
        if (!(await makeRoom(bytes))) return;
        if (names.length > 0) await mkdir(target, { mode: FOLDER_MODE });
        const hashes: string[] = [];
        for (const [at, name] of names.entries()) {
          const path = join(target, String(at));
          await linkFile(join(from, name), path);
          await chmod(path, FILE_MODE);
          hashes.push(await hashFile(path));
        }
        const expired = store.get<{ folder: string }>(
          'SELECT folder FROM results WHERE key = ? AND expires_at <= ?',
          ...[key, now],
        );
        if (expired !== undefined) await remove({ key, ...expired });
        const list = JSON.stringify(names);
        store.run(
          `INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`,
          ...[key, folder, value, list, JSON.stringify([...hashes, hashText(value + list)])],
          ...[bytes, now, expiresAt],
        );
        kept = store.get('SELECT 1 FROM results WHERE folder = ?', folder) !== undefined;
      } finally {
        if (!kept) await rm(target, { recursive: true, force: true });
      }
    },
    claim: (key, owner, now) =>
      store.transaction(
        () =>
          !hasResult(key, now) &&
          store.run(
            `INSERT INTO claims VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET owner = ?2, until = ?3 WHERE claims.until <= ?4`,
            key,
            owner,
            now + LEASE_MS,
            now,
          ) === 1,
      ),
    isSettled: (key, now) =>
      hasResult(key, now) ||
      store.get('SELECT 1 FROM claims WHERE key = ? AND until > ?', key, now) === undefined,
    renew(key, owner, now) {
      store.run(
        'INSERT INTO claims VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET until = ?3 WHERE owner = ?2',
        ...[key, owner, now + LEASE_MS],
      );
    },
    release(key, owner) {
      store.run('DELETE FROM claims WHERE key = ? AND owner = ?', key, owner);
    },
    isKnown: (folder, now) =>
      store.get('SELECT 1 FROM results WHERE folder = ?', folder) !== undefined ||
      store.get(
        `SELECT 1 FROM claims WHERE (owner = ?1 OR instr(owner, ?1 || '.') = 1) AND until > ?2`,
        ...[folder, now],
      ) !== undefined,
    async sweep(now) {
      const expired = store.all<{ key: string; folder: string }>(
        'SELECT key, folder FROM results WHERE expires_at <= ?',
        now,
      );
      await remove(...expired);
      await makeRoom(0);
      store.run('DELETE FROM claims WHERE until <= ?', now);
    },
    async empty() {
      const rows = store.all<{ key: string; folder: string }>(
        `SELECT key, folder FROM results WHERE names <> '[]'`,
      );
      await remove(...rows);
      return rows.length > 0;
    },
    close: () => store.close(),
  };
}

/** Links the files of a result into a folder and checks them. Returns null if anything is missing or changed. */
async function readResult(row: ResultRow, from: string, to: string): Promise<PackedResult | null> {
  const linked: string[] = [];
  try {
    const names: string[] = JSON.parse(row.names);
    const hashes: string[] = JSON.parse(row.hashes);
    if (hashes.at(-1) !== hashText(row.value + row.names)) return null;
    for (const [at, name] of names.entries()) {
      const path = join(to, name);
      await makeFolder(dirname(path), FOLDER_MODE);
      linked.push(path);
      await linkFile(join(from, String(at)), path);
      // The file in the folder of the job, which no other process removes.
      if ((await hashFile(path)) !== hashes[at]) throw new SyntaxError(`file ${at} has changed`);
    }
    return { value: row.value, names };
  } catch (error) {
    for (const path of linked) await rm(path, { force: true });
    if (error instanceof SyntaxError || UNREADABLE.includes(errorCode(error))) return null;
    throw error;
  }
}

/** The entry itself cannot be read; other errors are about the folder of the job. */
const UNREADABLE: readonly string[] = ['ENOENT', 'EISDIR', 'EACCES', 'EPERM', 'EIO'];

/** Links a file to another name, or copies it where the file system has no links. */
export async function linkFile(from: string, to: string): Promise<void> {
  await rm(to, { force: true });
  try {
    await link(from, to);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw error;
    await copyFile(from, to);
  }
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
