/** A short sample of `npm run torture`; the seed is printed when it fails. */
import { randomInt } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { runKills } from '../torture/kills.ts';
import { runPair } from '../torture/pair.ts';
import { makeWorld } from '../torture/world.ts';

const KILLS = process.env.VLOC_LONG_TESTS === '1' ? 8 : 2;

async function makeSeededWorld() {
  const seed = randomInt(2 ** 31);
  const world = await makeWorld({ seed });
  onTestFinished(() => world.close());
  return { seed, world };
}

test('killed at any moment, the service loses, doubles and leaves nothing', {
  timeout: 300_000,
}, async () => {
  const { seed, world } = await makeSeededWorld();
  await runKills(world, { kills: KILLS, settleEvery: KILLS, realEvery: 0, longestMs: 500 });
  expect({ seed, violations: world.book.violations }).toEqual({ seed, violations: [] });
  expect(world.book.counts.kills).toBe(KILLS);
  expect(world.book.accepted.size).toBeGreaterThan(0);
});

test('if one of two processes on a state folder is killed, the other finishes its work', {
  timeout: 300_000,
}, async () => {
  const { seed, world } = await makeSeededWorld();
  await runPair(world);
  expect({ seed, violations: world.book.violations }).toEqual({ seed, violations: [] });
});
