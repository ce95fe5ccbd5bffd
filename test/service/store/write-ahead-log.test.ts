import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { createService, Failure } from '../../../src/service/index.ts';
import { hasLostCommits, losesCommits } from '../../../src/service/store/write-ahead-log.ts';
import { makeStateDir, startScene } from '../harness/scene.ts';
import { createSmallEngines } from '../harness/small-engines.ts';

const HEADER = 32;
const FRAME = 24 + 4096;

/** The log of a database with `transactions` of some frames each, and where the last of them begins. */
let log = Buffer.alloc(0);
let lastTransaction = 0;
/** A log that was started again: after its frames are those of the previous round. */
let secondRound = Buffer.alloc(0);

beforeAll(async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'vloc-log-')), 'some.sqlite');
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE notes (text TEXT)');
  const write = (count: number) => {
    for (let turn = 0; turn < count; turn += 1) {
      database.exec(`INSERT INTO notes SELECT hex(randomblob(3000)) FROM (VALUES (1), (2), (3))`);
    }
  };
  write(6);
  lastTransaction = (await readFile(`${path}-wal`)).length;
  write(1);
  log = await readFile(`${path}-wal`);
  database.exec('PRAGMA wal_checkpoint(RESTART)');
  write(2);
  secondRound = await readFile(`${path}-wal`);
  database.close();
});

const changed = (bytes: Buffer, at: number, by: number) => {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ by, at);
  return copy;
};

describe('a write-ahead log', () => {
  it('that is whole loses nothing, also with an earlier round after its end', () => {
    expect(log.length).toBeGreaterThan(10 * FRAME);
    expect(secondRound.length).toBe(log.length);
    expect(losesCommits(log)).toBe(false);
    expect(losesCommits(secondRound)).toBe(false);
  });

  it('is damaged by any changed byte that comes before its last transaction', () => {
    const anywhere = fc.integer({ min: 0, max: lastTransaction - 1 });
    fc.assert(
      fc.property(anywhere, fc.integer({ min: 1, max: 255 }), (at, by) => losesCommits(changed(log, at, by))),
      { numRuns: 300 },
    );
  });

  it('is damaged by an overwritten stretch that ends two transactions before its end', () => {
    const end = HEADER + FRAME * 8;
    const stretch = fc.tuple(fc.nat(end - 1), fc.integer({ min: 1, max: 3 * FRAME }));
    fc.assert(
      fc.property(stretch, fc.constantFrom(0, 0xa5, 0xff), ([at, size], byte) => {
        const copy = Buffer.from(log);
        copy.fill(byte, at, Math.min(end, at + size));
        return copy.equals(log) || losesCommits(copy);
      }),
    );
  });

  it('that a loss of power ended in the middle of a write loses nothing that was committed', () => {
    fc.assert(
      fc.property(fc.nat(log.length), (size) => !losesCommits(log.subarray(0, size))),
      { numRuns: 300 },
    );
    // Sectors that never got to the disk; SQLite flushes all before the next transaction.
    const missing = fc.uniqueArray(
      fc.integer({ min: Math.ceil(lastTransaction / 512), max: Math.floor((log.length - 1) / 512) }),
    );
    fc.assert(
      fc.property(missing, (sectors) => {
        const copy = Buffer.from(log);
        for (const sector of sectors) copy.subarray(sector * 512, (sector + 1) * 512).fill(0);
        return !losesCommits(copy);
      }),
    );
  });

  it('that never got to the disk, or does not exist, loses nothing', () => {
    expect(losesCommits(Buffer.alloc(log.length))).toBe(false);
    expect(losesCommits(Buffer.alloc(0))).toBe(false);
    expect(hasLostCommits(join(tmpdir(), 'vloc-no-such-file'))).toBe(false);
  });
});

it('a service refuses a store whose log is damaged, and changes nothing', async () => {
  const { stateDir, service } = await startScene();
  for (let count = 0; count < 5; count += 1) await service.issueKey();
  const files = await Promise.all(
    ['', '-wal'].map((end) => readFile(join(stateDir, `service.sqlite${end}`))),
  );
  await service.close();
  const [store = Buffer.alloc(0), written = Buffer.alloc(0)] = files;
  const copy = await makeStateDir();
  const path = join(copy, 'service.sqlite');
  const damaged = changed(written, HEADER + FRAME + 100, 0x01);
  await writeFile(path, store);
  await writeFile(`${path}-wal`, damaged);
  const opening = createService({ stateDir: copy, engines: createSmallEngines(), log: () => {} });
  const failure = await opening.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Failure);
  expect(failure).toMatchObject({
    facts: { code: 'STORE_DAMAGED', message: expect.stringContaining(`${path}-wal`) },
  });
  expect(store.equals(await readFile(path))).toBe(true);
  expect(damaged.equals(await readFile(`${path}-wal`))).toBe(true);
});
