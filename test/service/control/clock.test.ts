import { expect, test } from 'vitest';
import type { Clock } from '../../../src/service/clock.ts';
import { createMovableClock } from '../../../src/service/control/clock.ts';

/** A base clock that only the test moves. */
function createBase() {
  let time = 1_000_000;
  let timers: { at: number; run: () => void }[] = [];
  const clock: Clock = {
    now: () => time,
    schedule(delayMs, run) {
      const timer = { at: time + delayMs, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((each) => each !== timer);
      };
    },
  };
  const pass = (ms: number) => {
    time += ms;
    const due = timers.filter(({ at }) => at <= time);
    timers = timers.filter(({ at }) => at > time);
    for (const { run } of due) run();
  };
  return { clock, pass };
}

function setUp() {
  const base = createBase();
  const clock = createMovableClock(base.clock);
  const called: string[] = [];
  const call = (name: string) => () => void called.push(name);
  return { ...base, base: base.clock, clock, called, call };
}

test('it shows the time of its base until it is moved', () => {
  const { clock, base, pass } = setUp();
  expect(clock.now()).toBe(base.now());
  pass(5000);
  expect(clock.now()).toBe(base.now());
  clock.advance(7000);
  pass(1000);
  expect(clock.now() - base.now()).toBe(7000);
  expect(clock.offset()).toBe(7000);
});

test('an advance makes the calls that become due, the earliest first and each once', () => {
  const { clock, called, call, pass } = setUp();
  clock.schedule(3000, call('third'));
  clock.schedule(1000, call('first'));
  clock.schedule(2000, call('second'));
  clock.schedule(9000, call('later'));
  clock.advance(5000);
  expect(called).toEqual(['first', 'second', 'third']);
  pass(3999);
  expect(called).toHaveLength(3);
  pass(1);
  expect(called).toEqual(['first', 'second', 'third', 'later']);
  pass(60_000);
  expect(called).toHaveLength(4);
});

test('a call that an earlier call cancels is not made', () => {
  const { clock, called, call } = setUp();
  const cancel = clock.schedule(2000, call('cancelled'));
  clock.schedule(1000, cancel);
  clock.advance(10_000);
  expect(called).toEqual([]);
});

test('a frozen clock makes no calls until it is advanced', () => {
  const { clock, called, call, pass } = setUp();
  clock.schedule(1000, call('before'));
  clock.freeze();
  const frozenAt = clock.now();
  clock.schedule(2000, call('while frozen'));
  pass(60_000);
  expect(clock.now()).toBe(frozenAt);
  expect(clock.isFrozen()).toBe(true);
  expect(clock.offset()).toBeNull();
  expect(called).toEqual([]);
  clock.advance(1000);
  expect(called).toEqual(['before']);
  clock.advance(1000);
  expect(called).toEqual(['before', 'while frozen']);
  expect(clock.now()).toBe(frozenAt + 2000);
});

test('a call without delay is made although the clock is frozen', () => {
  const { clock, called, call, pass } = setUp();
  clock.freeze();
  clock.schedule(0, call('now'));
  pass(0);
  expect(called).toEqual(['now']);
});

test('a resumed clock continues from the time that it showed', () => {
  const { clock, base, called, call, pass } = setUp();
  clock.freeze();
  const frozenAt = clock.now();
  clock.schedule(1000, call('after'));
  pass(10_000);
  clock.resume();
  expect(clock.now()).toBe(frozenAt);
  expect(clock.offset()).toBe(-10_000);
  pass(1000);
  expect(called).toEqual(['after']);
  expect(base.now() - clock.now()).toBe(10_000);
  clock.resume();
  expect(clock.now()).toBe(frozenAt + 1000);
});
