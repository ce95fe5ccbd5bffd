/**
 * A damaged journal never leads to a second payment: the service is asked what is lost, and a key that cannot ask is refused
 * before anything is sent. Source: reliability, 3.1, "journal damage".
 */
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openAppendLog, readLog } from '../../src/batch/records/append-log.ts';
import type { LogRecord } from '../../src/batch/records/record-line.ts';
import { createRandom, type Random } from '../torture/random.ts';
import { readBooks } from './books.ts';
import { DAMAGES, type JournalFiles } from './journal-damage.ts';
import { type HostedScene, openHosted } from './run-hosted.ts';
import { VARIANTS } from './variants.ts';

const IS_LONG = process.env.VLOC_LONG_TESTS === '1';
/** Damaged journals in all; the short run has each way once or twice. */
const TRIALS = IS_LONG ? 200 : 20;
const SEED = 14;
const DAY_MS = 24 * 60 * 60_000;

const NAMES = ['one.mp4', 'two.mp4', 'three.mp4'];
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
  const scene = await openHosted(VARIANTS.minimal, new Set(), { jobMs: () => 0 });
  const { folder, run } = scene;
  for (const name of NAMES) await writeFile(join(folder, name), videoOf(name));
  const placeOf = (state: State) => join(folder, 'kept', state);
  const keep = async (state: State) => {
    for (const part of ['out', 'state']) {
      await cp(join(folder, part), join(placeOf(state), part), { recursive: true });
    }
  };
  scene.hosted.isHeld = true;
  expect((await run([...COMMAND, '--detach'])).code).toBe(0);
  await keep('accepted');
  const { records } = await readLog(journalOf(folder));
  await rm(journalOf(folder));
  await rm(`${journalOf(folder)}.head`);
  const { log } = await openAppendLog(journalOf(folder));
  await log.append(...withoutAnswers(records));
  await log.close();
  await keep('unanswered');
  scene.hosted.isHeld = false;
  expect((await run(COMMAND)).code).toBe(0);
  await keep('fetched');
  expect(paymentsOf(scene)).toEqual(Array(ITEMS).fill(1));
  const restore = async (state: State) => {
    for (const part of ['out', 'state']) {
      await rm(join(folder, part), { recursive: true, force: true });
      await cp(join(placeOf(state), part), join(folder, part), { recursive: true });
    }
  };
  return { ...scene, restore };
}

const journalOf = (folder: string) => join(folder, 'out', '.vloc', 'journal');
const paymentsOf = ({ hosted }: HostedScene) => Object.values(readBooks(hosted).payments);

/** As a run that is killed before it has written the answers of every second call down. */
function withoutAnswers(records: readonly LogRecord[]): readonly LogRecord[] {
  const keys = records.filter(({ type }) => type === 'intend').map(({ key }) => key);
  const lost = new Set(keys.filter((_, place) => place % 2 === 1));
  return records.filter(({ type, key }) => type === 'intend' || !lost.has(key));
}

async function damage(folder: string, name: string, random: Random): Promise<void> {
  const path = journalOf(folder);
  const whole = { journal: await readFile(path), head: await readFile(`${path}.head`) };
  const change = DAMAGES[name];
  if (change === undefined) throw new RangeError(`nobody knows ${name}`);
  await put(path, change(whole, random));
}

async function put(path: string, { journal, head }: JournalFiles): Promise<void> {
  await (journal === null ? rm(path) : writeFile(path, journal));
  await (head === null ? rm(`${path}.head`) : writeFile(`${path}.head`, head));
}

/** Records that the journal no longer has, as text. */
async function lostRecords(folder: string, before: readonly LogRecord[]): Promise<readonly string[]> {
  const { records } = await readLog(journalOf(folder));
  const left = new Set(records.map((record) => JSON.stringify(record)));
  return before.map((record) => JSON.stringify(record)).filter((record) => !left.has(record));
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
        const { records } = await readLog(journalOf(folder));
        await damage(folder, way, random);
        if (!hasRecords) await rm(join(folder, 'state'), { recursive: true });
        const lost = await lostRecords(folder, records);
        const { code, stderr } = await run(COMMAND);
        expect(paymentsOf(scene), at).toEqual(Array(ITEMS).fill(1));
        expect([code, stderr].join('\n'), at).toMatch(/^0\n/);
        if (lost.length > 0) expect(stderr, at).toMatch(/damaged|was lost/);
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
    const lines = (await readFile(journalOf(folder), 'utf8')).split('\n');
    const kept = lines.filter((line) => !line.includes('"type":"intend"') || random.chance(0.5));
    await writeFile(journalOf(folder), kept.join('\n'));
    const before = await readFile(journalOf(folder));
    hosted.change = (body) => (body.object === 'list' && how === 'broken' ? {} : body);
    if (how === 'forbidden') hosted.troubles.push('page-403');
    const asked = hosted.requests.length;
    const { code, stderr } = await run(COMMAND);
    expect(code).toBe(10);
    expect(stderr).toContain('JOURNAL_DAMAGED');
    expect(stderr).toContain('--rebuild');
    expect(stderr).toContain('--fresh');
    expect(hosted.requests.slice(asked).filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(await readFile(`${journalOf(folder)}.damaged-1`)).toEqual(before);

    hosted.change = (body) => body;
    const next = await run(COMMAND);
    expect([next.code, next.stderr].join('\n')).toMatch(/^0\n/);
    expect(paymentsOf(scene)).toEqual(Array(ITEMS).fill(1));
    const last = await run(COMMAND);
    expect([last.code, last.stderr]).toEqual([0, expect.not.stringContaining('damaged')]);
  });
});

describe('a wrong clock', () => {
  it.each([
    ['30 days ahead', 30],
    ['30 days behind', -30],
  ])('that is %s costs nothing: the service knows which jobs it has', async (_how, days) => {
    const scene = await openScene();
    const now = () => Date.now() + days * DAY_MS;
    for (const state of STATES) {
      await scene.restore(state);
      const results = (await readdir(join(scene.folder, 'out'))).filter((name) => name.endsWith('.mp4'));
      for (const name of results.slice(0, 2)) await rm(join(scene.folder, 'out', name));
      const { code, stderr } = await scene.run(COMMAND, { now });
      expect(paymentsOf(scene), state).toEqual(Array(ITEMS).fill(1));
      expect([code, stderr].join('\n'), state).toMatch(/^0\n/);
    }
  });
});
