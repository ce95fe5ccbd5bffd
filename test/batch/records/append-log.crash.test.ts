import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCountedLog, readLog } from '../../../src/batch/records/append-log.ts';
import { newFolder } from './support/folder.ts';
import { countCalls, HAS_STRACE, runTraced, runWriter, runWriterWithFileLimit } from './support/strace.ts';

/** Those that change the disk or decide what of it is durable. */
const CALLS = ['openat', 'write', 'pwrite64', 'fdatasync', 'fsync', 'rename', 'ftruncate', 'close'];
const COUNT = 3;
const numbers = (records: readonly { readonly [field: string]: unknown }[]) =>
  records.map(({ number }) => number);

describe.skipIf(!HAS_STRACE)('a writer that is killed (needs strace)', () => {
  it('at any system call loses no acknowledged record, and the next one continues', async () => {
    const folder = newFolder();
    const counts = await countCalls(join(folder, 'whole', 'log'), COUNT, CALLS, join(folder, 'trace'));
    const points = [...counts].flatMap(([call, times]) =>
      Array.from({ length: times }, (_, index) => ({ call, time: index + 1 })),
    );
    expect(counts.get('write')).toBe(COUNT + 1);
    expect(counts.get('rename')).toBe(1);
    expect(counts.get('fdatasync')).toBe(COUNT);
    // The count of lines and its name, the name of the new file, the shorter copy, and its name.
    expect(counts.get('fsync')).toBe(5);
    // The count is made, and brought up to date after each append and the shorter copy.
    expect(counts.get('pwrite64')).toBe(1 + COUNT + 1);

    const check = async ({ call, time }: { call: string; time: number }) => {
      const path = join(folder, `${call}-${time}`, 'log');
      const killed = await runTraced(path, COUNT, `${call}:signal=KILL:when=${time}`);
      expect({ call, time, isKilled: killed.isKilled }).toEqual({ call, time, isKilled: true });
      const { records, damage } = await readCountedLog(path);
      expect({ call, time, damage }).toEqual({ call, time, damage: [] });
      const found = numbers(records);
      const isRewritten = found.length === 1 && found[0] === COUNT - 1;
      const expected = Array.from({ length: found.length }, (_, number) => number);
      if (!isRewritten) expect(found).toEqual(expected);
      for (const number of isRewritten ? [] : killed.acknowledged) expect(found).toContain(number);
      if (isRewritten) expect(killed.acknowledged).toEqual([0, 1, 2]);

      const next = await runWriter(path, COUNT);
      expect({ call, time, isCompacted: next.isCompacted }).toEqual({ call, time, isCompacted: true });
      expect(numbers((await readLog(path)).records).at(-1)).toBe(COUNT - 1);
      expect(existsSync(`${path}.new`)).toBe(false);
    };
    // Two at a time: as many as the machine of the suite has cores.
    const halves = [
      points.filter((_, index) => index % 2 === 0),
      points.filter((_, index) => index % 2 === 1),
    ];
    await Promise.all(
      halves.map(async (half) => {
        for (const point of half) await check(point);
      }),
    );
    expect(points.length).toBeGreaterThan(12);
  });
});

describe.skipIf(!HAS_STRACE)('a disk that fails (needs strace)', () => {
  it.each([
    ['write', 'ENOSPC', 'the disk is full'],
    ['write', 'EIO', 'the disk reports a read or write error'],
    ['fdatasync', 'ENOSPC', 'the disk is full'],
    ['fdatasync', 'EIO', 'the disk reports a read or write error'],
  ])('at %s with %s fails that append, says why, and accepts the next', async (call, error, reason) => {
    const path = join(newFolder(), 'log');
    const { acknowledged, failures } = await runTraced(path, 4, `${call}:error=${error}:when=2`);
    expect(failures).toEqual([`cannot write ${path}: ${reason}`]);
    expect(acknowledged).toEqual([0, 2, 3]);
  });

  it('at the last append leaves no record that was reported as failed', async () => {
    const path = join(newFolder(), 'log');
    const { acknowledged } = await runTraced(path, 2, 'fdatasync:error=EIO:when=2');
    expect(acknowledged).toEqual([0]);
    expect(numbers((await readLog(path)).records)).toEqual([0]);
  });

  it('permanently leaves a log that can be read', async () => {
    const path = join(newFolder(), 'log');
    await runWriter(path, 1);
    const { acknowledged, failures } = await runTraced(path, 4, 'fdatasync,fsync:error=EIO:when=1+');
    expect(acknowledged).toEqual([]);
    expect(failures).toHaveLength(3);
    expect((await readLog(path)).records).toEqual([{ type: 'line', number: 0 }]);
  });

  it('at the rewriting keeps the old log', async () => {
    const path = join(newFolder(), 'log');
    const { isCompacted, failures } = await runTraced(path, 3, 'rename:error=EIO:when=1');
    expect(isCompacted).toBe(false);
    expect(failures).toEqual([`cannot write ${path}: the disk reports a read or write error`]);
    expect(numbers((await readLog(path)).records)).toEqual([0, 1, 2]);
    expect(existsSync(`${path}.new`)).toBe(false);
  });
});

describe('a disk that writes only a part of a record', () => {
  it('keeps the records before it, and nothing of that one', async () => {
    const path = join(newFolder(), 'log');
    const { acknowledged, failures } = await runWriterWithFileLimit(path, 60, 1);
    expect(acknowledged.length).toBeGreaterThan(10);
    expect(failures[0]).toContain('the file would exceed your limits');
    expect(failures).toHaveLength(60 - acknowledged.length);
    const { records, torn } = await readLog(path);
    expect(torn).toBe(0);
    expect(records.length).toBeLessThanOrEqual(acknowledged.length);
    expect(statSync(path).size).toBeLessThanOrEqual(1024);
  });
});
