/** A clock that follows a database, on machines whose own clock is wrong or jumps. */
import { expect, onTestFinished, test } from 'vitest';
import { createMovableClock } from '../../../src/service/control/clock.ts';
import { followDatabase } from '../../../src/service/store/database-clock.ts';

const NOW = 1_800_000_000_000;

/** A machine and a database, whose times pass together. `skew` is how far the machine is ahead. */
async function start(skew = 0) {
  const world = { passed: 0, skew, drift: 0, readingMs: 0, isAway: false, due: [] as (() => void)[] };
  const machine = {
    system: () => NOW + world.passed + world.skew,
    steady: () => 500 + world.passed,
    schedule: (_delayMs: number, run: () => void) => {
      world.due = [run];
      return () => {
        world.due = [];
      };
    },
  };
  const base = createMovableClock({ now: machine.system, schedule: machine.schedule });
  const read = async () => {
    if (world.isAway) throw new Error('away');
    const time = NOW + world.passed + world.drift;
    world.passed += world.readingMs;
    return time;
  };
  const { clock, stop } = await followDatabase(base, read, machine);
  onTestFinished(stop);
  return {
    base,
    clock,
    world,
    /** How far the clock is ahead of the database. */
    error: () => clock.now() - (NOW + world.passed + world.drift),
    async readAgain() {
      for (const run of world.due) run();
      await null;
      await null;
      await null;
    },
  };
}

test.each([3_600_000, -3_600_000, 101])(
  'a machine that is %d ms ahead shows the time of the database',
  async (skew) => {
    const { error, world } = await start(skew);
    expect(error()).toBe(0);
    world.passed += 60_000;
    expect(error()).toBe(0);
  },
);

test('a clock that jumps after the start changes nothing, also while the database is down', async () => {
  const { error, world, readAgain } = await start();
  world.isAway = true;
  for (const skew of [3_600_000, -7_200_000, 0]) {
    world.skew = skew;
    expect(error()).toBe(0);
    world.passed += 10_000;
    await readAgain();
    expect(error()).toBe(0);
  }
});

test('differences that NTP leaves do not change the time, which is steady', async () => {
  const { error, world } = await start(80);
  expect(error()).toBe(80);
  world.skew = 20;
  expect(error()).toBe(20);
});

test('a database whose time is set is followed at the next reading, unless that took too long', async () => {
  const { error, world, readAgain } = await start();
  world.drift = 10_000;
  expect(error()).toBe(-10_000);
  world.readingMs = 5000;
  await readAgain();
  expect(error()).toBe(-10_000);
  world.readingMs = 10;
  await readAgain();
  expect(Math.abs(error())).toBeLessThanOrEqual(10);
});

test('an offset that a test sets is kept', async () => {
  const { base, clock, error, world } = await start(3_600_000);
  base.advance(86_400_000);
  expect(error()).toBe(86_400_000);
  base.freeze();
  const frozen = clock.now();
  world.passed += 5000;
  base.resume();
  expect(clock.now()).toBe(frozen);
});
