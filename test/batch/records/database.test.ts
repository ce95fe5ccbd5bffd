import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isMainThread } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BATCH_SCHEMA, viewContent } from '../../../src/batch/records/batch-records.ts';
import { openRecords, readRecords } from '../../../src/batch/records/database.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { LINES } from './support/lines.ts';

const TEXT = 'x'.repeat(300);

/** A file with so many lines. */
async function fileOf(count: number, path = join(makeFolder(), 'of', 'records.db')): Promise<string> {
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

/** Changes a file as vloc does not. */
function execute(path: string, sql: string): void {
  const connection = new DatabaseSync(path);
  connection.exec(sql);
  connection.close();
}

const upTo = (count: number) => Array.from({ length: count }, (_, number) => number);

describe('a database of records', () => {
  it('has the rows that were written, in their order, each once', async () => {
    const path = await fileOf(3);
    const { database } = await openRecords(path, LINES);
    await database.write(() => database.change('lines', { number: 1 }, { text: 'new' }));
    expect(database.find('lines').map(({ text }) => text)).toEqual([`${TEXT}0.`, 'new', `${TEXT}2.`]);
    expect(database.find('lines', { number: 1, text: 'new' })).toEqual([{ number: 1, text: 'new' }]);
    expect(database.find('lines', { number: 0, text: 'new' })).toEqual([]);
    await database.write(() => database.remove('lines', { number: 0 }));
    await database.close();
    expect(await numbersIn(path)).toEqual([1, 2]);
  });

  it('keeps half a character as a replacement, like SQLite, and is not damaged by it', async () => {
    const path = await fileOf(0);
    const { database } = await openRecords(path, LINES);
    await database.write(() => database.change('lines', { number: 1 }, { text: 'half \ud800 and \0' }));
    expect(database.find('lines')).toEqual([{ number: 1, text: 'half \ufffd and \0' }]);
    await database.close();
    expect((await readRecords(path, LINES)).damage).toEqual([]);
  });

  it('commits what was asked for in one turn together, at the latest as it closes, and nothing of a group that fails', async () => {
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
    const last = write(2);
    await database.close();
    await last;
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
    expect(await readRecords(join(makeFolder(), 'none.db'), LINES)).toEqual({ rows: new Map(), damage: [] });
  });

  it('is as it was before a process that was killed while it wrote, and reading does not change it', async () => {
    const path = await fileOf(100);
    const killed = `${path}.killed`;
    const writer = new DatabaseSync(path);
    // What does not fit into the cache is written before the commit.
    writer.exec("PRAGMA cache_size = 1; BEGIN; UPDATE lines SET text = 'half'");
    for (const end of ['', '-journal']) copyFileSync(path + end, killed + end);
    writer.close();
    const half = readFileSync(killed);
    expect(half).not.toEqual(readFileSync(path));
    const before = readdirSync(tmpdir());
    expect(await readRecords(killed, LINES)).toEqual(await readRecords(path, LINES));
    expect([readFileSync(killed), readdirSync(tmpdir())]).toEqual([half, before]);
    const { database, isCutOff } = await openRecords(killed, LINES);
    await database.close();
    expect(isCutOff).toBe(true);
    expect(await numbersIn(killed)).toEqual(upTo(100));
    expect(readdirSync(dirname(path)).filter((name) => name.includes('damaged'))).toEqual([]);
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
    const path = join(makeFolder(), 'records.db');
    put(path);
    const failure = { facts: { category: 'disk', message: expect.stringContaining(reason) } };
    await expect(openRecords(path, LINES)).rejects.toMatchObject(failure);
    await expect(readRecords(path, LINES)).rejects.toMatchObject(failure);
  });

  it.each([
    [13, 'DISK_ERROR', 'the disk is full'],
    // SQLITE_IOERR_WRITE and SQLITE_IOERR_LOCK
    [778, 'DISK_ERROR', 'the disk reports a read or write error'],
    [3850, 'DISK_ERROR', 'its file system has no file locks, so two runs could pay for the same items'],
    [5, 'RECORDS_BUSY', 'is locked by another program'],
  ])('explains the result code %i of SQLite', async (errcode, code, reason) => {
    const path = join(makeFolder(), 'records.db');
    const { database } = await openRecords(path, LINES);
    const failing = database.write(() => {
      throw Object.assign(new Error('of SQLite'), { errcode });
    });
    const failure = {
      facts: { code, retryable: errcode === 5, advice: expect.stringMatching(/disk|space/) },
    };
    await expect(failing).rejects.toMatchObject(failure);
    await expect(failing).rejects.toThrow(reason);
    await expect(failing).rejects.toThrow(path);
    await database.close();
  });

  it('of a newer version is refused, and stays as it is', async () => {
    const path = await fileOf(1);
    const before = readFileSync(path);
    const failure = {
      message: `${path} was written by a newer version of vloc`,
      facts: { category: 'usage', code: 'RECORDS_TOO_NEW', advice: expect.stringContaining('Update vloc') },
    };
    await expect(openRecords(path, { ...LINES, version: 0 })).rejects.toMatchObject(failure);
    await expect(readRecords(path, { ...LINES, version: 0 })).rejects.toMatchObject(failure);
    expect(readFileSync(path)).toEqual(before);
  });

  it('of an older version is refused, and stays as it is', async () => {
    const path = await fileOf(1);
    const before = readFileSync(path);
    const failure = {
      message: expect.stringContaining(`${path} was written by a version of vloc before its first release`),
      facts: { category: 'usage', code: 'RECORDS_OLD', advice: expect.stringContaining('Finish the batch') },
    };
    await expect(openRecords(path, { ...LINES, version: 2 })).rejects.toMatchObject(failure);
    await expect(readRecords(path, { ...LINES, version: 2 })).rejects.toMatchObject(failure);
    expect(readFileSync(path)).toEqual(before);
  });
});

describe('a damaged database', () => {
  it.each<readonly [string, (path: string) => void, readonly string[], readonly number[]]>([
    [
      'a changed row',
      (path) => execute(path, "UPDATE lines SET text = 'X' WHERE number = 7"),
      ['row 7 of lines is not as it was written'],
      upTo(100).filter((number) => number !== 7),
    ],
    ['a lost table', (path) => execute(path, 'DROP TABLE damages'), ['it has no table damages'], upTo(100)],
    [
      'nothing in it',
      (path) => writeFileSync(path, ''),
      ['it does not begin like a record of vloc', 'it has no table lines', 'it has no table damages'],
      [],
    ],
    ['another content', (path) => writeFileSync(path, 'my notes\n'), ['file is not a database'], []],
  ])(
    'with %s is kept under another name, and its readable rows are in the new one',
    async (_what, change, reasons, left) => {
      const path = await fileOf(100);
      change(path);
      const damaged = readFileSync(path);
      const read = await readRecords(path, LINES);
      expect(read.damage).toEqual(reasons.map((reason) => `${path} is damaged: ${reason}`));
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

  it('stays as it is if the new one cannot be written', async () => {
    const path = await fileOf(1);
    writeFileSync(path, 'my notes\n');
    const full = new Error('the disk is full');
    const noteDamage = () => {
      throw full;
    };
    await expect(openRecords(path, { ...LINES, noteDamage })).rejects.toThrow(full);
    expect(readFileSync(path, 'utf8')).toBe('my notes\n');
    expect(readdirSync(dirname(path)).filter((name) => name.includes('.new'))).toEqual([]);
  });

  it('is noticed while it is open, and the failure says how to continue', async () => {
    const path = await fileOf(1);
    const { database } = await openRecords(path, LINES);
    execute(path, "UPDATE lines SET text = 'X'");
    expect(() => database.find('lines')).toThrow(
      expect.objectContaining({
        message: `the record ${path} is damaged`,
        facts: expect.objectContaining({
          code: 'JOURNAL_DAMAGED',
          advice: expect.stringContaining('keeps the file under another name and asks the service'),
        }),
      }),
    );
    await database.close();
  });

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

  it('whose index no longer finds a row is noticed, and the new one finds it', async () => {
    const path = join(makeFolder(), 'records.db');
    const schema = {
      ...LINES,
      sql: LINES.sql.replace('number INTEGER PRIMARY KEY, text TEXT', 'text TEXT PRIMARY KEY'),
    };
    const names = upTo(50).map((number) => `name ${number + 10}`);
    const { database } = await openRecords(path, schema);
    await database.write(() => {
      for (const text of names) database.change('lines', { text }, {});
    });
    await database.close();
    const bytes = readFileSync(path);
    // Pages of an index begin with a 10 if they are leaves.
    const index = upTo(bytes.length / 4096).find(
      (page) => bytes[page * 4096] === 10 && bytes.subarray(page * 4096).includes('name 30'),
    );
    const place = bytes.indexOf('name 30', (index ?? Number.NaN) * 4096);
    bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place);
    writeFileSync(path, bytes);
    const { database: again } = await openRecords(path, schema);
    expect(again.find('lines', { text: 'name 30' })).toEqual([{ text: 'name 30' }]);
    expect(again.find('lines')).toHaveLength(50);
    expect(again.find('damages')).toEqual([
      { places: expect.stringContaining('missing from index'), kept: 'records.db.damaged-1' },
    ]);
    await again.close();
  });

  it('that was moved away before the new one was there is still reported, and the next is kept beside it', async () => {
    const path = await fileOf(1);
    renameSync(path, `${path}.damaged-1`);
    for (const end of ['.new', '.new-journal', '.damaged-1-journal']) writeFileSync(path + end, 'left');
    let repairs = 0;
    const exclusively = (work: () => Promise<void>) => {
      repairs += 1;
      return work();
    };
    const open = async () => {
      const { database, isCutOff } = await openRecords(path, BATCH_SCHEMA, { exclusively });
      expect(isCutOff).toBe(false);
      await database.close();
    };
    const damages = async () => viewContent(await readRecords(path, BATCH_SCHEMA), '/').damages;
    await open();
    const missing = {
      type: 'log_damaged',
      places: [`${path} is missing, and damaged ones are beside it`],
      kept: 'records.db.damaged-1',
      comparedSince: [],
    };
    expect(await damages()).toEqual([missing]);
    await open();
    expect([await damages(), repairs]).toEqual([[missing], 1]);
    writeFileSync(path, '');
    await open();
    expect(await damages()).toMatchObject([{ kept: 'records.db.damaged-2' }]);
    expect(readdirSync(dirname(path)).filter((name) => name.includes('.new'))).toEqual([]);
  });
});
