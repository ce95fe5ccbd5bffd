import { copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { foldersOf } from '../../../src/service/folders.ts';
import { openAccountStore } from '../../../src/service/store/open-account.ts';
import { copyTablesBefore } from '../../../src/service/store/open-postgres.ts';
import { SCHEMA_VERSION } from '../../../src/service/store/schema.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { startScene } from '../harness/scene.ts';

/** Written by vloc 0.1, with two keys and ten jobs. */
const OLD = fileURLToPath(new URL('../../fixtures/version-0.1/service/service.sqlite', import.meta.url));
const COPY = `service.sqlite.before-${SCHEMA_VERSION}`;

async function folderWithOldStore(): Promise<string> {
  const stateDir = makeFolder();
  await copyFile(OLD, join(stateDir, 'service.sqlite'));
  return stateDir;
}

function contentOf(path: string): { version: unknown; jobs: unknown; ledger: unknown } {
  const database = new DatabaseSync(path, { readOnly: true });
  const version = database.prepare('PRAGMA user_version').get()?.user_version;
  const jobs = database.prepare('SELECT * FROM jobs ORDER BY id').all();
  const ledger = database.prepare('SELECT * FROM ledger ORDER BY id').all();
  database.close();
  return { version, jobs, ledger };
}

async function upgrade(stateDir: string): Promise<string[]> {
  const said: string[] = [];
  const store = openAccountStore(foldersOf(stateDir), { onUpgrade: (message) => said.push(message) });
  await store.close();
  return said;
}

const copiesIn = async (stateDir: string) =>
  (await readdir(stateDir)).filter((name) => name.includes('before-'));

describe('a store of an older version', () => {
  it('is copied before it is upgraded, readable by its owner only, and the operator is informed of the path', async () => {
    const stateDir = await folderWithOldStore();
    const before = contentOf(join(stateDir, 'service.sqlite'));
    expect(await upgrade(stateDir)).toEqual([expect.stringContaining(join(stateDir, COPY))]);
    expect(contentOf(join(stateDir, COPY))).toEqual(before);
    expect((await stat(join(stateDir, COPY))).mode & 0o777).toBe(0o600);
    expect(contentOf(join(stateDir, 'service.sqlite')).version).toBe(SCHEMA_VERSION);
  });

  it('is copied once: later starts do not change the copy', async () => {
    const stateDir = await folderWithOldStore();
    await upgrade(stateDir);
    const { mtimeMs } = await stat(join(stateDir, COPY));
    expect(await upgrade(stateDir)).toEqual([]);
    expect((await stat(join(stateDir, COPY))).mtimeMs).toBe(mtimeMs);
  });

  it('keeps one copy: older ones, and those that a killed process began, are removed', async () => {
    const stateDir = await folderWithOldStore();
    await writeFile(join(stateDir, 'service.sqlite.before-2'), 'older');
    await writeFile(join(stateDir, `${COPY}.part`), 'begun');
    await upgrade(stateDir);
    expect(await copiesIn(stateDir)).toEqual([COPY]);
  });

  it('is not upgraded if it cannot be copied, and no part of the copy remains', async () => {
    const stateDir = await folderWithOldStore();
    const before = await readFile(join(stateDir, 'service.sqlite'));
    await mkdir(join(stateDir, COPY));
    await writeFile(join(stateDir, COPY, 'in-the-way'), '');
    await expect(upgrade(stateDir)).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
    expect(contentOf(join(stateDir, 'service.sqlite')).version).toBe(2);
    expect(contentOf(join(stateDir, 'service.sqlite'))).toEqual(contentOf(join(stateDir, 'service.sqlite')));
    expect((await readFile(join(stateDir, 'service.sqlite'))).length).toBe(before.length);
    expect(await copiesIn(stateDir)).toEqual([COPY]);
  });

  it('can be used again by moving the copy back', async () => {
    const stateDir = await folderWithOldStore();
    await upgrade(stateDir);
    await copyFile(join(stateDir, COPY), join(stateDir, 'service.sqlite'));
    expect(contentOf(join(stateDir, 'service.sqlite'))).toEqual(contentOf(join(stateDir, 'service.sqlite')));
    expect(await upgrade(stateDir)).toHaveLength(1);
  });

  it('is reported in the log of a service', async () => {
    const stateDir = await folderWithOldStore();
    const { logged } = await startScene({ stateDir });
    const message = expect.stringMatching(/upgraded.*before-/);
    expect(logged).toContainEqual(expect.objectContaining({ message }));
  });
});

describe('a new store', () => {
  it('is not copied', async () => {
    const stateDir = makeFolder();
    expect(await upgrade(stateDir)).toEqual([]);
    expect(await copiesIn(stateDir)).toEqual([]);
  });
});

describe('the copies of tables in PostgreSQL', () => {
  it('replace older copies, and no other table', () => {
    const names = new Set(['jobs', 'before_4_jobs', 'before_hand']);
    expect(copyTablesBefore(['jobs'], names, 5).split(';\n')).toEqual([
      'SET LOCAL statement_timeout = 0',
      'DROP TABLE before_4_jobs',
      'CREATE TABLE before_5_jobs AS TABLE jobs',
      '',
    ]);
  });
});
