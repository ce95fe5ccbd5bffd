/**
 * A damaged journal never leads to a second payment: the service is asked what is lost, and a key that cannot ask is refused
 * before anything is sent. Source: reliability, 3.1, "journal damage".
 */
import { copyFile, cp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { BATCH_SCHEMA, type ReadRecords } from '../../src/batch/records/batch-records.ts';
import { openRecords } from '../../src/batch/records/database.ts';
import { readOwnRecords } from '../../src/batch/records/other-journals.ts';
import { recordsPath } from '../../src/batch/records/record-folder.ts';
import { makeFolder } from '../support/make-folder.ts';
import { createRandom, type Random } from '../torture/random.ts';
import { readBooks } from './books.ts';
import { type HostedScene, openMinimal } from './run-hosted.ts';

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
    const copy = join(makeFolder(), 'copy.db');
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
  };
}

const DAMAGES: Readonly<Record<string, Damage>> = {
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

const IS_LONG = process.env.VLOC_LONG_TESTS === '1';
/** Damaged journals in all; the short run has each way once. */
const TRIALS = IS_LONG ? 200 : Object.keys(DAMAGES).length;
const SEED = 14;
const DAY_MS = 24 * 60 * 60_000;

const NAMES = ['one.mp4', 'two.mp4'];
const LANGUAGES = ['es', 'fr'];
/** --clobber, so that no file that is there keeps a run from paying. */
const COMMAND = ['localize', ...NAMES, '--from', 'en', '--to', LANGUAGES.join(), '--out', 'out', '--clobber'];
const ITEMS = NAMES.length * LANGUAGES.length;

/** How far a run has come: all is fetched, all is accepted, or some calls have no answer yet. */
const STATES = ['fetched', 'accepted', 'unanswered'] as const;
type State = (typeof STATES)[number];

interface Scene extends HostedScene {
  /** Puts the folder of results and the records of the machine back into that state. */
  restore(state: State): Promise<void>;
}

const videoOf = (name: string) => Buffer.from(`\0\0\0\x18ftypisom of ${name}`);

async function openScene(): Promise<Scene> {
  const scene = await openMinimal();
  const { folder, run } = scene;
  for (const name of NAMES) await writeFile(join(folder, name), videoOf(name));
  const keptOf = (state: State) => join(folder, 'kept', state);
  const keep = async (state: State) => {
    for (const part of ['out', 'state']) {
      await cp(join(folder, part), join(keptOf(state), part), { recursive: true });
    }
  };
  scene.hosted.isHeld = true;
  expect((await run([...COMMAND, '--detach'])).code).toBe(0);
  await keep('accepted');
  await loseAnswers(folder);
  await keep('unanswered');
  scene.hosted.isHeld = false;
  expect((await run(COMMAND)).code).toBe(0);
  await keep('fetched');
  expect(paymentsOf(scene)).toEqual(Array(ITEMS).fill(1));
  const restore = async (state: State) => {
    for (const part of ['out', 'state']) {
      await rm(join(folder, part), { recursive: true, force: true });
      await cp(join(keptOf(state), part), join(folder, part), { recursive: true });
    }
  };
  return { ...scene, restore };
}

const placeOf = (folder: string) => ({ folder: join(folder, 'out') });
const pathOf = (folder: string) => recordsPath(placeOf(folder));
const paymentsOf = ({ hosted }: HostedScene) => Object.values(readBooks(hosted).payments);

/** As a run that is killed before it has written the answers of every second call down. */
async function loseAnswers(folder: string): Promise<void> {
  const { database } = await openRecords(pathOf(folder), BATCH_SCHEMA);
  await database.write(() => {
    for (const [place, { key = null }] of database.find('attempts').entries()) {
      if (place % 2 === 1)
        database.change('attempts', { key }, { state: 'asked', job_id: null, accepted_at: null });
    }
  });
  await database.close();
}

/** Whether the file lacks attempts, or answers to them. */
async function isAnyLost(folder: string, before: ReadRecords): Promise<boolean> {
  const { attempts } = await readOwnRecords(placeOf(folder));
  return [...before.attempts.byKey].some(([key, { state }]) => attempts.byKey.get(key)?.state !== state);
}

describe('a damaged journal', () => {
  it(
    `is continued without a second payment (${TRIALS} journals, seed ${SEED})`,
    async () => {
      const scene = await openScene();
      const { folder, run, restore } = scene;
      const random = createRandom(SEED);
      const ways = Object.keys(DAMAGES);
      for (let trial = 0; trial < TRIALS; trial += 1) {
        const state = random.pick(STATES);
        const way = ways[trial % ways.length] ?? '';
        // Without them the jobs that this machine has made are known from the service alone.
        const hasRecords = random.chance(0.5);
        const at = `trial ${trial}: ${way}, ${state}, ${hasRecords ? 'with' : 'without'} records of the machine`;
        await restore(state);
        const before = await readOwnRecords(placeOf(folder));
        await DAMAGES[way]?.(pathOf(folder), random);
        if (!hasRecords) await rm(join(folder, 'state'), { recursive: true });
        const isLost = await isAnyLost(folder, before);
        const { code, stderr } = await run(COMMAND);
        expect(paymentsOf(scene), at).toEqual(Array(ITEMS).fill(1));
        expect([code, stderr].join('\n'), at).toMatch(/^0\n/);
        if (isLost) expect(stderr, at).toMatch(/damaged|was lost|is incomplete/);
      }
    },
    IS_LONG ? 600_000 : 300_000,
  );

  it.each([
    ['a key that cannot list jobs', 'forbidden'],
    ['a failing service', 'broken'],
  ])('of %s stops with exit 10 before anything is sent', async (_who, how) => {
    const scene = await openScene();
    const { folder, hosted, run, restore } = scene;
    const random = createRandom(SEED);
    await restore('accepted');
    await DAMAGES['a text file']?.(pathOf(folder), random);
    const before = await readFile(pathOf(folder));
    hosted.change = (body) => (body.object === 'list' && how === 'broken' ? {} : body);
    if (how === 'forbidden') hosted.troubles.push('page-403');
    const asked = hosted.requests.length;
    const { code, stderr } = await run(COMMAND);
    expect(code).toBe(10);
    expect(stderr).toContain('JOURNAL_DAMAGED');
    expect(stderr).toContain('--rebuild');
    expect(stderr).toContain('--fresh');
    expect(hosted.requests.slice(asked).filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(await readFile(`${pathOf(folder)}.damaged-1`)).toEqual(before);

    hosted.change = (body) => body;
    const next = await run(COMMAND);
    expect([next.code, next.stderr].join('\n')).toMatch(/^0\n/);
    expect(paymentsOf(scene)).toEqual(Array(ITEMS).fill(1));
    const last = await run(COMMAND);
    expect([last.code, last.stderr]).toEqual([0, expect.not.stringContaining('damaged')]);
  });
});

describe('a wrong clock', () => {
  it('that is 30 days ahead or behind costs nothing: the service knows which jobs it has', async () => {
    const scene = await openScene();
    for (const [days, state] of [-30, 30].flatMap((each) => STATES.map((state) => [each, state] as const))) {
      const now = () => Date.now() + days * DAY_MS;
      await scene.restore(state);
      const results = (await readdir(join(scene.folder, 'out'))).filter((name) => name.endsWith('.mp4'));
      for (const name of results.slice(0, 2)) await rm(join(scene.folder, 'out', name));
      const { code, stderr } = await scene.run(COMMAND, { now });
      expect(paymentsOf(scene), state).toEqual(Array(ITEMS).fill(1));
      expect([code, stderr].join('\n'), state).toMatch(/^0\n/);
    }
  });
});
