/** Slots of the worker: rows that wait for others leave theirs to the next row. */
import { expect, onTestFinished, test } from 'vitest';
import { createMovableClock } from '../../../src/service/control/clock.ts';
import type { Leases } from '../../../src/service/running/leases.ts';
import { type Lend, startWorker } from '../../../src/service/running/worker.ts';
import { until } from '../harness/scene.ts';

type Work = (signal: AbortSignal, lend: Lend) => Promise<void>;

/** A worker with one slot and a row for each name, in this order. */
function start(rows: Readonly<Record<string, Work>>) {
  const waiting = Object.keys(rows);
  const leases: Leases = {
    async claim() {
      const id = waiting.shift();
      return id === undefined ? null : { id, attempt: 1, crashes: 0, takenFrom: null };
    },
    renew: async () => true,
    release: async () => {},
  };
  const worker = startWorker({
    ...{ leases, clock: createMovableClock(), log: () => {}, slots: 1, fail: async () => {} },
    work: async ({ id }, signal, lend) => rows[id]?.(signal, lend),
  });
  onTestFinished(() => {
    void worker.stop();
  });
  return worker;
}

test('a row that waits lets the next one run, and goes on when a slot is free again', async () => {
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
