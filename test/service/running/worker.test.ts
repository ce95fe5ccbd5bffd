/** The worker: rows that wait for others leave their slots to the next row, and errors that keep it from working are reported. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createMovableClock } from '../../../src/service/control/clock.ts';
import type { Leases } from '../../../src/service/running/leases.ts';
import { type Lend, startWorker } from '../../../src/service/running/worker.ts';
import { NoRoom, StorageAway } from '../../../src/service/storage/storage.ts';
import { DatabaseAway } from '../../../src/service/store/store.ts';
import { until } from '../harness/scene.ts';

type Work = (signal: AbortSignal, lend: Lend) => Promise<void>;

/** A worker with one slot and a row for each name, in the order in which they wait. */
function start(
  rows: Readonly<Record<string, Work>>,
  waiting: string[] = Object.keys(rows),
  ended: (how: string) => void = () => {},
) {
  const leases: Leases = {
    async claim() {
      const id = waiting.shift();
      return id === undefined ? null : { id, attempt: 1, crashes: 0, takenFrom: null };
    },
    renew: async (ids) => new Set(ids),
    release: async (id, { counted }) => ended(`${id} waits, and ${counted ? 'counts' : 'does not count'}`),
  };
  const worker = startWorker({
    ...{ leases, clock: createMovableClock(), log: () => {}, slots: 1, onStuck: () => {} },
    fail: async ({ id }) => ended(`${id} has failed`),
    work: async ({ id }, signal, lend) => rows[id]?.(signal, lend),
  });
  onTestFinished(() => {
    void worker.stop();
  });
  return worker;
}

test('a row that waits lets the next one run, and continues when a slot is free again', async () => {
  const [awaited, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const events: string[] = [];
  start({
    async first(_, lend) {
      events.push('first waits');
      await lend(async () => {
        await awaited.promise;
        events.push('first could go on');
      });
      events.push('first goes on');
    },
    async second() {
      events.push('second runs');
      await held.promise;
      events.push('second ends');
    },
    async third() {
      events.push('third runs');
    },
  });
  await until(() => events.length === 2);
  awaited.resolve();
  await until(() => events.length === 3);
  held.resolve();
  await until(() => events.length === 6);
  // The first is not alone with its slot before the second has ended, and the third comes after both.
  expect(events).toEqual([
    'first waits',
    'second runs',
    'first could go on',
    'second ends',
    'first goes on',
    'third runs',
  ]);
});

test('a row that waits for two things at once has one slot again afterwards', async () => {
  const events: string[] = [];
  const held = Promise.withResolvers<void>();
  start({
    async first(_, lend) {
      await Promise.all([lend(() => nextTurn()), lend(() => nextTurn())]);
      events.push('first goes on');
      await nextTurn();
      events.push('first ends');
    },
    async second() {
      await nextTurn();
      events.push('second ends');
      held.resolve();
    },
    async third() {
      await held.promise;
      events.push('third ends');
    },
    async fourth() {
      events.push('fourth runs');
    },
  });
  await until(() => events.length === 5);
  expect(events).toEqual(['second ends', 'third ends', 'first goes on', 'first ends', 'fourth runs']);
});

test('a row that is stopped does not wait for a slot', async () => {
  const held = Promise.withResolvers<void>();
  const events: string[] = [];
  const worker = start({
    async first(signal, lend) {
      await lend(async () => {});
      events.push(signal.aborted ? 'first was stopped' : 'first goes on');
    },
    async second() {
      events.push('second runs');
      await held.promise;
    },
  });
  await until(() => events.length === 1);
  worker.drop('first');
  await until(() => events.length === 2);
  expect(events).toEqual(['second runs', 'first was stopped']);
  held.resolve();
});

test.each(Array.from({ length: 12 }, (_, at) => at))(
  'a row that is added %d steps after the start of a search is not left to the next one',
  async (steps) => {
    const rows: Record<string, Work> = {};
    const waiting: string[] = [];
    const events: string[] = [];
    const worker = start(rows, waiting);
    for (let step = 0; step < steps; step += 1) await null;
    rows.late = async () => {
      events.push('late runs');
    };
    waiting.push('late');
    worker.wake();
    await nextTurn();
    expect(events).toEqual(['late runs']);
  },
);

test('work that the database or the storage interrupts waits, and its attempt does not count', async () => {
  const ends: string[] = [];
  const failWith = (error: Error) => async () => {
    throw error;
  };
  const rows = {
    'without a database': failWith(
      new DatabaseAway({ category: 'configuration', code: 'DATABASE_UNUSABLE', message: 'not reachable' }),
    ),
    'without storage': failWith(new StorageAway('the storage does not answer')),
    'with a defect': failWith(new Error('a defect')),
  };
  start(rows, Object.keys(rows), (how) => ends.push(how));
  await until(() => ends.length === 3);
  expect(ends).toEqual([
    'without a database waits, and does not count',
    'without storage waits, and does not count',
    'with a defect has failed',
  ]);
});

/** A worker with two slots whose searches find these rows or fail, and what it reports when it cannot go on. */
function startSearching(searches: readonly (Error | string | null)[], work: (id: string) => Promise<void>) {
  const clock = createMovableClock();
  const stuck: unknown[] = [];
  const ends: string[] = [];
  let next = 0;
  const worker = startWorker({
    ...{ clock, log: () => {}, slots: 2, work: ({ id }) => work(id) },
    leases: {
      async claim() {
        const found = searches[next] ?? null;
        next += 1;
        if (found instanceof Error) throw found;
        return found === null ? null : { id: found, attempt: 1, crashes: 0, takenFrom: null };
      },
      renew: async (ids) => new Set(ids),
      release: async (id) => void ends.push(id),
    },
    fail: async ({ id }) => void ends.push(id),
    onStuck: (error) => stuck.push(error),
  });
  onTestFinished(() => {
    void worker.stop();
  });
  const search = async (times: number) => {
    for (const end = next + times; next < end; ) {
      worker.wake();
      await nextTurn();
    }
  };
  return { stuck, ends, clock, search };
}

const broken = new Error('no such table: turns');
const other = new Error('database is locked');

test.each([
  ['is reported once when it comes four times in a row', [broken, broken, broken, broken], [broken]],
  ['is not reported when it comes twice', [broken, broken], []],
  ['is not reported when a search between has succeeded', [broken, broken, null, broken, broken], []],
  ['is not reported when another one follows it', [broken, broken, other, other], []],
])('an error of the search for work %s', async (_, searches, reported) => {
  const { stuck, search } = startSearching(searches, async () => {});
  await search(searches.length + 1);
  expect(stuck).toEqual(reported);
});

test.each([
  ['is reported', [], 1],
  ['is not reported while another row runs', ['long'], 0],
] as const)('a disk that has no room for three rows in a row %s', async (_, before, times) => {
  const full = new NoRoom('the disk is full');
  const rows = ['one', 'two', 'three'];
  const { stuck, ends, clock, search } = startSearching([...before, ...rows], async (id) => {
    if (id !== 'long') throw full;
    await new Promise(() => {});
  });
  await search(before.length);
  for (const [at] of rows.entries()) {
    // Until then it takes nothing.
    clock.advance(10_000);
    await until(() => ends.length > at);
  }
  expect(stuck).toEqual(Array.from({ length: times }, () => full));
});

test('an end of an attempt that cannot be recorded is reported at the third try, and goes on being tried', async () => {
  const clock = createMovableClock();
  clock.freeze();
  const stuck: unknown[] = [];
  let tries = 0;
  const waiting = ['one'];
  const worker = startWorker({
    ...{ clock, log: () => {}, slots: 1, onStuck: (error) => stuck.push(error) },
    leases: {
      async claim() {
        const id = waiting.shift();
        return id === undefined ? null : { id, attempt: 1, crashes: 0, takenFrom: null };
      },
      renew: async (ids) => new Set(ids),
      release: async () => {},
    },
    work: async () => {
      throw new Error('a defect');
    },
    async fail() {
      tries += 1;
      throw broken;
    },
  });
  onTestFinished(() => {
    void worker.stop();
  });
  const reported: number[] = [];
  for (let second = 0; second < 5; second += 1) {
    await nextTurn();
    reported.push(stuck.length);
    clock.advance(1000);
  }
  expect(reported).toEqual([0, 0, 1, 1, 1]);
  expect(tries).toBe(5);
});
