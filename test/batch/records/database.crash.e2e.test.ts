/** A writer that is killed at any system call, and disks that fail (strace). */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRecords, readRecords } from '../../../src/batch/records/database.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { LINES } from './support/lines.ts';
import {
  HAS_STRACE,
  killAt,
  pointsOf,
  readWritten,
  runFailingWriter,
  runWriter,
  runWriterWithFileLimit,
  type SweepPoint,
  writerOf,
} from './support/strace.ts';

const COUNT = 2;

/** All points take half a minute; the others come by in the long run. */
const EVERY = process.env.VLOC_LONG_TESTS === '1' ? 1 : 3;

async function read(path: string) {
  const { rows, damage } = await readRecords(path, LINES);
  return { damage, numbers: (rows.get('lines') ?? []).map(({ number }) => number) };
}

describe.skipIf(!HAS_STRACE)('a writer that is killed (needs strace)', () => {
  it('at any system call loses no acknowledged row, and the next one continues', async () => {
    const folder = makeFolder();
    const whole = writerOf(join(folder, 'whole', 'records.db'), COUNT);
    const points = await pointsOf(whole, join(folder, 'trace'));
    expect(points.length).toBeGreaterThan(30);
    const check = async (point: SweepPoint) => {
      const at = `${point.files} ${point.call} ${point.time}`;
      const path = join(folder, at, 'records.db');
      const killed = await killAt(writerOf(path, COUNT), point);
      expect(killed.isKilled, at).toBe(true);
      const found = await read(path);
      expect(found.damage, at).toEqual([]);
      expect(found.numbers, at).toEqual(Array.from({ length: found.numbers.length }, (_, number) => number));
      expect(found.numbers, at).toEqual(expect.arrayContaining(readWritten(killed).acknowledged));
      await runWriter(path, COUNT);
      expect(await read(path), at).toEqual({ damage: [], numbers: [0, 1] });
      expect(readdirSync(dirname(path)).sort(), at).toEqual(['records.db', 'records.db-journal']);
    };
    // Two at a time: as many as the machine of the suite has cores.
    await Promise.all(
      [0, 1].map(async (lane) => {
        const chosen = points.filter((_, index) => index % EVERY === 0);
        for (const point of chosen.filter((_, index) => index % 2 === lane)) await check(point);
      }),
    );
  }, 600_000);

  it('has synced a row, its journal and their names before it acknowledges the row', async () => {
    const folder = makeFolder();
    const path = join(folder, 'of', 'records.db');
    const trace = join(folder, 'trace');
    execFileSync('strace', [
      ...[
        '-f',
        '-y',
        '-qq',
        '-o',
        trace,
        '-e',
        'trace=openat,rename,pwrite64,ftruncate,fsync,fdatasync,write',
      ],
      ...writerOf(path, 1).command,
    ]);
    const rows = execFileSync('cat', [trace], { encoding: 'utf8' }).split('\n');
    const end = rows.findIndex((row) => row.includes('acknowledged 0'));
    const last = (pattern: RegExp) => rows.slice(0, end).findLastIndex((row) => pattern.test(row));
    const isSynced = (changed: number, name: string) =>
      expect(last(new RegExp(`f(data)?sync\\(\\d+<[^>]*${name}>`)), name).toBeGreaterThan(changed);
    expect(end).toBeGreaterThan(0);
    isSynced(last(/pwrite64\(\d+<[^>]*records\.db>/), 'records\\.db');
    isSynced(last(/ftruncate\(\d+<[^>]*records\.db-journal>/), 'records\\.db-journal');
    isSynced(last(/rename\(.*records\.db"/), '/of');
    isSynced(last(/openat\(.*records\.db-journal.*O_CREAT/), '/of');
  });
});

describe.skipIf(!HAS_STRACE)('a disk that fails (needs strace)', () => {
  it.each([
    ['pwrite64', 'ENOSPC', 'the disk is full'],
    ['pwrite64', 'EIO', 'the disk reports a read or write error'],
    ['fsync', 'EIO', 'the disk reports a read or write error'],
  ])(
    'at %s with %s fails that write, says why, keeps the file, and accepts the next',
    async (call, error, reason) => {
      const path = join(makeFolder(), 'records.db');
      await runWriter(path, 1);
      const { acknowledged, failures } = await runFailingWriter(path, 4, `${call}:error=${error}:when=3`);
      expect(failures).toEqual([`cannot write ${path}: ${reason}`]);
      const { damage, numbers } = await read(path);
      expect([damage, numbers]).toEqual([[], [0, ...acknowledged]]);
      expect(acknowledged.at(-1)).toBe(3);
    },
  );

  it('that has no file locks is refused before anything is written', async () => {
    const path = join(makeFolder(), 'records.db');
    const { acknowledged, failures } = await runFailingWriter(path, 1, 'fcntl:error=EOPNOTSUPP:when=1+');
    expect(acknowledged).toEqual([]);
    expect(failures.join()).toContain('its file system has no file locks');
  });
});

describe('a disk that writes only a part of a row', () => {
  it('keeps the rows before it, and nothing of that one', async () => {
    const path = join(makeFolder(), 'records.db');
    const { acknowledged, failures } = await runWriterWithFileLimit(path, 100, 24);
    expect(acknowledged.length).toBeGreaterThan(5);
    expect(failures.length).toBeGreaterThan(5);
    const { database } = await openRecords(path, LINES);
    const numbers = database.find('lines').map(({ number }) => number);
    await database.close();
    expect(numbers).toEqual(acknowledged);
  });
});
