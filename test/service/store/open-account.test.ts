import { copyFile, mkdir, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, it } from 'vitest';
import { createService, Failure, type ServiceOptions } from '../../../src/service/index.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { startScene } from '../harness/scene.ts';
import { createSmallEngines } from '../harness/small-engines.ts';
import { changeStore } from '../harness/stores.ts';

/** SQLite's page size, which the store leaves as it is. */
const PAGE = 4096;

const open = (stateDir: string, options: Partial<ServiceOptions> = {}) =>
  createService({ stateDir, engines: createSmallEngines(), log: () => {}, ...options });

/** Opens and closes; the failure, or null when the store is as it should be. */
async function failureOf(stateDir: string): Promise<unknown> {
  try {
    await (await open(stateDir)).close();
    return null;
  } catch (error) {
    return error;
  }
}

async function codeOf(stateDir: string): Promise<string | null> {
  const failure = await failureOf(stateDir);
  if (failure === null) return null;
  if (!(failure instanceof Failure)) throw failure;
  expect(failure.message).toContain(join(stateDir, 'service.sqlite'));
  return failure.facts.code;
}

/** Mulberry32: the same damage in each run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const noise = (size: number, random: () => number) =>
  Buffer.from(Array.from({ length: size }, () => Math.floor(random() * 256)));

/** A store with some rows, closed, so that all of it is in one file. */
let whole = Buffer.alloc(0);
beforeAll(async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'vloc-service-'));
  const service = await open(stateDir);
  for (let count = 0; count < 40; count += 1) await service.issueKey();
  await service.close();
  whole = await readFile(join(stateDir, 'service.sqlite'));
  await rm(stateDir, { recursive: true });
});

/** A state folder with these bytes as its store, next to an upload. */
async function folderWith(bytes: Buffer | null): Promise<string> {
  const stateDir = makeFolder();
  await mkdir(join(stateDir, 'uploads'));
  await writeFile(join(stateDir, 'uploads', 'talk'), 'video');
  if (bytes !== null) await writeFile(join(stateDir, 'service.sqlite'), bytes);
  return stateDir;
}

describe('a store', () => {
  it('that is whole opens, and has its keys', async () => {
    const service = await open(await folderWith(whole));
    expect(await service.keys()).toHaveLength(41);
    await service.close();
  });

  it('is refused wherever a page of it is overwritten, and the file is not changed', async () => {
    const random = createRandom(12);
    for (let at = 0; at < whole.length; at += PAGE) {
      const bytes = Buffer.from(whole);
      noise(PAGE, random).copy(bytes, at);
      const stateDir = await folderWith(bytes);
      expect([at, await codeOf(stateDir)]).toEqual([at, 'STORE_DAMAGED']);
      expect(bytes.equals(await readFile(join(stateDir, 'service.sqlite')))).toBe(true);
    }
  });

  it('is refused wherever it is cut off', async () => {
    const random = createRandom(34);
    const sizes = Array.from({ length: 12 }, () => Math.floor(random() * whole.length));
    for (const size of [0, 1, 99, 100, 511, PAGE, ...sizes, whole.length - PAGE]) {
      expect([size, await codeOf(await folderWith(whole.subarray(0, size)))]).toEqual([
        size,
        'STORE_DAMAGED',
      ]);
    }
  });

  it('with a few changed bytes opens or is refused, and nothing else happens', async () => {
    const random = createRandom(56);
    const codes: (string | null)[] = [];
    for (let turn = 0; turn < 15; turn += 1) {
      const bytes = Buffer.from(whole);
      noise(16, random).copy(bytes, Math.floor(random() * (bytes.length - 16)));
      codes.push(await codeOf(await folderWith(bytes)));
    }
    expect(codes).toContain('STORE_DAMAGED');
  });

  it('that is missing or empty is a new account only if no service has been there', async () => {
    expect(await codeOf(await folderWith(null))).toBe('STORE_DAMAGED');
    expect(await codeOf(await folderWith(Buffer.alloc(0)))).toBe('STORE_DAMAGED');
    const fresh = makeFolder();
    await writeFile(join(fresh, 'service.sqlite'), '');
    expect(await codeOf(fresh)).toBeNull();
  });

  it('that is missing next to its log is refused, and the log is kept', async () => {
    const { stateDir, service } = await startScene();
    const copy = makeFolder();
    await copyFile(join(stateDir, 'service.sqlite-wal'), join(copy, 'service.sqlite-wal'));
    const { size } = await stat(join(copy, 'service.sqlite-wal'));
    expect(size).toBeGreaterThan(0);
    expect(await codeOf(copy)).toBe('STORE_DAMAGED');
    expect((await stat(join(copy, 'service.sqlite-wal'))).size).toBe(size);
    await service.close();
  });

  it('that lost its log before it was ever merged is refused next to results', async () => {
    const { stateDir, service } = await startScene();
    const early = await readFile(join(stateDir, 'service.sqlite'));
    await service.close();
    expect(await codeOf(await folderWith(early.subarray(0, PAGE)))).toBe('STORE_DAMAGED');
  });

  it('opens with whatever is left of a file that SQLite rebuilds', async () => {
    const { stateDir, service } = await startScene();
    const copy = makeFolder();
    for (const end of ['', '-wal']) {
      await copyFile(join(stateDir, `service.sqlite${end}`), join(copy, `service.sqlite${end}`));
    }
    await writeFile(join(copy, 'service.sqlite-shm'), noise(32_768, createRandom(78)));
    const again = await open(copy);
    expect(await again.keys()).toEqual(await service.keys());
    await again.close();
    await service.close();
  });

  it('of another program is refused and not changed', async () => {
    const stateDir = makeFolder();
    const path = join(stateDir, 'service.sqlite');
    for (const version of [0, 75]) {
      const other = new DatabaseSync(path);
      other.exec(`CREATE TABLE IF NOT EXISTS bookmarks (url TEXT); PRAGMA user_version = ${version}`);
      other.close();
      const before = await readFile(path);
      expect(await codeOf(stateDir)).toBe('STORE_DAMAGED');
      expect(before.equals(await readFile(path))).toBe(true);
    }
    expect(await failureOf(stateDir)).toMatchObject({ message: expect.stringContaining('another program') });
  });

  it('of a newer version requires an upgrade', async () => {
    const newer = await folderWith(whole);
    changeStore(newer, 'PRAGMA user_version = 99');
    expect(await failureOf(newer)).toMatchObject({
      facts: {
        code: 'STORE_NEWER',
        advice: expect.stringContaining('Upgrade vloc'),
      },
    });
  });
});

it('a store that another process writes to for seconds is reported as locked', async () => {
  const stateDir = await folderWith(whole);
  const other = new DatabaseSync(join(stateDir, 'service.sqlite'));
  other.exec('BEGIN IMMEDIATE');
  try {
    const failure = await failureOf(stateDir);
    expect(failure).toMatchObject({
      facts: { code: 'STORE_LOCKED', category: 'temporary', retryable: true },
    });
  } finally {
    other.close();
  }
});

describe('a store too large to read at each start', () => {
  const ROWS = `
    INSERT INTO ledger (id, amount, posted_at, client_reference)
    WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 12000)
    SELECT printf('tx_%06d', n), 1, n, hex(zeroblob(200)) FROM counter`;

  const makeLarge = async () => {
    const stateDir = await folderWith(whole);
    changeStore(stateDir, ROWS);
    return stateDir;
  };

  it('is refused when it is cut off', async () => {
    const stateDir = await makeLarge();
    const path = join(stateDir, 'service.sqlite');
    const { size } = await stat(path);
    expect(size).toBeGreaterThan(4_194_304);
    await truncate(path, size - 10 * PAGE);
    expect(await codeOf(stateDir)).toBe('STORE_DAMAGED');
  });

  it('opens with damage in its middle, which is reported when a statement meets it', async () => {
    const stateDir = await makeLarge();
    const path = join(stateDir, 'service.sqlite');
    const bytes = await readFile(path);
    bytes.fill(0xa5, whole.length);
    await writeFile(path, bytes);
    const told: Failure[] = [];
    const service = await open(stateDir, { onStoreFailure: (failure) => told.push(failure) });
    expect(told).toEqual([]);
    await expect(service.grantCredits({ credits: 1 })).rejects.toThrow(Failure);
    expect(told).toMatchObject([
      { facts: { code: 'STORE_DAMAGED', message: expect.stringContaining(path) } },
    ]);
    await service.close();
  });
});
