/** Ways in which disks, copies and people damage the records of a batch: each is chosen by chance that can be repeated. */
import { copyFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Random } from '../torture/random.ts';

/** Damages the file at the path. */
type Damage = (path: string, random: Random) => Promise<void>;

/** Of SQLite, unless a file says otherwise. */
const PAGE_BYTES = 4096;

/** Changes bytes of the file. */
function ofBytes(change: (bytes: Buffer, random: Random) => Buffer): Damage {
  return async (path, random) => writeFile(path, change(await readFile(path), random));
}

function flipBits(bytes: Buffer, count: number, random: Random): Buffer {
  const damaged = Buffer.from(bytes);
  for (let time = 0; time < count; time += 1) {
    const offset = random.between(0, damaged.length - 1);
    damaged.writeUInt8(damaged.readUInt8(offset) ^ (1 << random.between(0, 7)), offset);
  }
  return damaged;
}

/** Where a page begins; never the first one, which has the schema. */
function pageOf(bytes: Buffer, random: Random): number {
  return random.between(1, bytes.length / PAGE_BYTES - 1) * PAGE_BYTES;
}

/**
 * Leaves the journal of a write behind, which the next one who opens the file undoes.
 * @param isCommitted whether the write had ended: then its journal should have been emptied
 */
function leaveJournal(isCommitted: boolean): Damage {
  return async (path) => {
    const folder = await mkdtemp(join(tmpdir(), 'vloc-journal-'));
    const copy = join(folder, 'copy.db');
    await copyFile(path, copy);
    const database = new DatabaseSync(copy);
    database.exec('CREATE TEMP TABLE lost AS SELECT * FROM attempts WHERE rowid % 2 = 0');
    database.exec('DELETE FROM attempts WHERE rowid % 2 = 0');
    // So small that changed pages are written before the end.
    database.exec('PRAGMA cache_size = 1; BEGIN');
    database.exec(
      'INSERT INTO attempts SELECT * FROM lost; UPDATE command_items SET begun_at = begun_at || begun_at',
    );
    database.exec(`INSERT INTO prepared (source, recipe, files) VALUES ('a', 'b', '${'x'.repeat(50_000)}')`);
    await copyFile(`${copy}-journal`, `${path}-journal`);
    if (isCommitted) database.exec('COMMIT');
    await copyFile(copy, path);
    database.close();
    await rm(folder, { recursive: true });
  };
}

export const DAMAGES: Readonly<Record<string, Damage>> = {
  'a flipped bit': ofBytes((bytes, random) => flipBits(bytes, 1, random)),
  'many flipped bits': ofBytes((bytes, random) => flipBits(bytes, random.between(2, 40), random)),
  'a cut at a byte': async (path, random) =>
    truncate(path, random.between(1, (await readFile(path)).length - 1)),
  'a cut between pages': async (path, random) => truncate(path, pageOf(await readFile(path), random)),
  'a page of zeros': ofBytes((bytes, random) => {
    const begin = pageOf(bytes, random);
    return Buffer.from(bytes).fill(0, begin, begin + PAGE_BYTES);
  }),
  'a block of zeros': ofBytes((bytes, random) => {
    const begin = random.between(0, bytes.length - 1);
    return Buffer.from(bytes).fill(0, begin, Math.min(bytes.length, begin + random.between(1, 512)));
  }),
  'a page in the place of another': ofBytes((bytes, random) => {
    const [from, to] = [pageOf(bytes, random), pageOf(bytes, random)];
    bytes.copy(bytes, to, from, from + PAGE_BYTES);
    return bytes;
  }),
  'junk at the end': ofBytes((bytes, random) => {
    const junk = Array.from({ length: random.between(1, 200) }, () => random.between(0, 255));
    return Buffer.concat([bytes, Buffer.from(junk)]);
  }),
  'an empty file': (path) => truncate(path, 0),
  'no file': (path) => rm(path),
  'a text file': (path) => writeFile(path, 'my notes\n'),
  'a database of another program': async (path) => {
    await rm(path);
    const database = new DatabaseSync(path);
    database.exec('CREATE TABLE notes (text)');
    database.close();
  },
  'a write that was cut off': leaveJournal(false),
  'the journal of an ended write': leaveJournal(true),
  'junk as the journal': (path, random) =>
    writeFile(`${path}-journal`, Buffer.from(Array.from({ length: 600 }, () => random.between(0, 255)))),
};
