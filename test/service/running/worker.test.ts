/** Slots of the worker: rows that wait for others leave theirs to the next row. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createMovableClock } from '../../../src/service/control/clock.ts';
import type { Leases } from '../../../src/service/running/leases.ts';
import { type Lend, startWorker } from '../../../src/service/running/worker.ts';
import { StorageAway } from '../../../src/service/storage/storage.ts';
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
    ...{ leases, clock: createMovableClock(), log: () => {}, slots: 1 },
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
  await until(
    () => events.length,
    (count) => count === 2,
  );
  awaited.resolve();
  await until(
    () => events.length,
    (count) => count === 3,
  );
  held.resolve();
  await until(
    () => events.length,
    (count) => count === 6,
  );
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
  await until(
    () => events.length,
    (count) => count === 1,
  );
  worker.drop('first');
  await until(
    () => events.length,
    (count) => count === 2,
  );
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
    'without a database': failWith(new DatabaseAway('the database is not reachable now')),
    'without storage': failWith(new StorageAway('the storage does not answer')),
    'with a defect': failWith(new Error('a defect')),
  };
  start(rows, Object.keys(rows), (how) => ends.push(how));
  await until(
    () => ends.length,
    (count) => count === 3,
  );
  expect(ends).toEqual([
    'without a database waits, and does not count',
    'without storage waits, and does not count',
    'with a defect has failed',
  ]);
});
