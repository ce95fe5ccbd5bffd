import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRecords, readRecords } from '../../../src/batch/records/database.ts';
import { newFolder } from './support/folder.ts';
import { LINES } from './support/lines.ts';

const TEXT = 'x'.repeat(300);

/** A file with so many lines. */
async function fileOf(count: number, path = join(newFolder(), 'of', 'records.db')): Promise<string> {
  const { database } = await openRecords(path, LINES);
  await database.write(() => {
    for (let number = 0; number < count; number += 1)
      database.change('lines', { number }, { text: `${TEXT}${number}.` });
  });
  await database.close();
  return path;
}

async function numbersIn(path: string): Promise<readonly unknown[]> {
  const { rows } = await readRecords(path, LINES);
  return (rows.get('lines') ?? []).map(({ number }) => number);
}

const upTo = (count: number) => Array.from({ length: count }, (_, number) => number);

describe('a database of records', () => {
  it('has the rows that were written, in their order, each once', async () => {
    const path = await fileOf(3);
    const { database, isCutOff } = await openRecords(path, LINES);
    await database.write(() => database.change('lines', { number: 1 }, { text: 'new' }));
    expect(database.find('lines').map(({ text }) => text)).toEqual([`${TEXT}0.`, 'new', `${TEXT}2.`]);
    expect([database.find('lines', { number: 1 }), isCutOff]).toEqual([[{ number: 1, text: 'new' }], false]);
    await database.write(() => database.remove('lines', { number: 0 }));
    await database.close();
    expect(await numbersIn(path)).toEqual([1, 2]);
  });

  it('commits what was asked for in one turn together, and nothing of a group that fails', async () => {
    let rollbacks = 0;
    const path = await fileOf(1);
    const { database } = await openRecords(path, LINES, { onRollback: () => (rollbacks += 1) });
    const write = (number: number) =>
      database.write(() => database.change('lines', { number }, { text: 'new' }));
    const failing = database.write(() => {
      throw new Error('no');
    });
    expect((await Promise.allSettled([write(1), failing])).map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
    ]);
    expect([await numbersIn(path), rollbacks]).toEqual([[0], 1]);
    await write(2);
    await database.close();
    expect(await numbersIn(path)).toEqual([0, 2]);
  });

  // Only the main thread may set the mask.
  it.skipIf(process.platform === 'win32' || !isMainThread)(
    'is readable only by the user, as is its folder, whatever the mask',
    async () => {
      const before = process.umask(0);
      onTestFinished(() => void process.umask(before));
      const path = await fileOf(1);
      const rights = [path, `${path}-journal`, dirname(path)].map((each) =>
        (statSync(each).mode & 0o777).toString(8),
      );
      expect(rights).toEqual(['600', '600', '700']);
    },
  );

  it('is read while it is written to, and a file that is not there is empty', async () => {
    const path = await fileOf(1);
    const { database } = await openRecords(path, LINES);
    const writing = database.write(() => database.change('lines', { number: 1 }, { text: 'new' }));
    expect((await numbersIn(path)).slice(0, 1)).toEqual([0]);
    await writing;
    expect(await numbersIn(path)).toEqual([0, 1]);
    await database.close();
    expect(await readRecords(join(newFolder(), 'none.db'), LINES)).toEqual({ rows: new Map(), damage: [] });
  });

  it.skipIf(process.getuid?.() === 0)('is read in a folder that nobody may write to', async () => {
    const path = await fileOf(2);
    for (const [place, mode] of [
      [path, 0o400],
      [dirname(path), 0o500],
    ] as const)
      chmodSync(place, mode);
    onTestFinished(() => chmodSync(dirname(path), 0o700));
    expect(await numbersIn(path)).toEqual([0, 1]);
    await expect(openRecords(path, LINES)).rejects.toMatchObject({
      facts: { category: 'disk', message: expect.stringContaining('permission denied') },
    });
  });

  it.each([
    ['a link', 'it is a symbolic link', (path: string) => symlinkSync('elsewhere', path)],
    ['a folder', 'it is a folder', (path: string) => mkdirSync(path)],
  ])('is refused in place of %s', async (_what, reason, put) => {
    const path = join(newFolder(), 'records.db');
    put(path);
    const failure = { facts: { category: 'disk', message: expect.stringContaining(reason) } };
    await expect(openRecords(path, LINES)).rejects.toMatchObject(failure);
    await expect(readRecords(path, LINES)).rejects.toMatchObject(failure);
  });

  it('of a newer version is refused, and stays as it is', async () => {
    const path = await fileOf(1);
    const before = readFileSync(path);
    const failure = { facts: { category: 'usage', code: 'RECORDS_TOO_NEW' } };
    await expect(openRecords(path, { ...LINES, version: 0 })).rejects.toMatchObject(failure);
    await expect(readRecords(path, { ...LINES, version: 0 })).rejects.toMatchObject(failure);
    expect(readFileSync(path)).toEqual(before);
  });
});

describe('a damaged database', () => {
  const DAMAGES: readonly (readonly [string, (bytes: Buffer) => Buffer, readonly number[]])[] = [
    [
      'a changed byte',
      (bytes) => Buffer.from(bytes.toString('latin1').replaceAll(`${TEXT}7.`, `${TEXT}X.`), 'latin1'),
      upTo(100).filter((number) => number !== 7),
    ],
    ['nothing in it', () => Buffer.alloc(0), []],
    ['another content', () => Buffer.from('my notes\n'), []],
  ];

  it.each(DAMAGES)(
    'with %s is kept under another name, and its readable rows are in the new one',
    async (_what, change, left) => {
      const path = await fileOf(100);
      const damaged = change(readFileSync(path));
      writeFileSync(path, damaged);
      const read = await readRecords(path, LINES);
      expect(read.damage.length).toBeGreaterThan(0);
      expect(read.damage.every((place) => place.startsWith(`${path} is damaged: `))).toBe(true);
      expect(readFileSync(path)).toEqual(damaged);
      const { database } = await openRecords(path, LINES);
      expect(database.find('lines').map(({ number }) => number)).toEqual(left);
      expect(database.find('damages')).toEqual([
        { places: read.damage.join('\n'), kept: 'records.db.damaged-1' },
      ]);
      await database.close();
      expect(readFileSync(`${path}.damaged-1`)).toEqual(damaged);
    },
  );

  it('loses only the rows of a page that is gone', async () => {
    const path = await fileOf(100);
    const bytes = readFileSync(path);
    const page = Math.floor(bytes.indexOf(`${TEXT}50`, 0, 'latin1') / 4096) * 4096;
    writeFileSync(path, bytes.fill(0, page, page + 4096));
    const { database } = await openRecords(path, LINES);
    const numbers = database.find('lines').map(({ number }) => number);
    expect(numbers.length).toBeGreaterThan(80);
    expect(numbers).toEqual(expect.arrayContaining([0, 99]));
    await database.close();
  });

  it('that was moved away before the new one was there is still reported', async () => {
    const path = await fileOf(1);
    execFileSync('mv', [path, `${path}.damaged-1`]);
    const { database } = await openRecords(path, LINES);
    expect(database.find('damages')).toMatchObject([{ kept: 'records.db.damaged-1' }]);
    await database.close();
    expect(readdirSync(dirname(path)).sort()).toEqual([
      'records.db',
      'records.db-journal',
      'records.db.damaged-1',
    ]);
  });
});
