/** A store that fails now and then, before an operation and after it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { audit } from './audit.ts';
import { comeToRest } from './kills.ts';
import { runLoad } from './load.ts';
import { auditChildren } from './orphans.ts';
import { verifyPast } from './settle.ts';
import { makeWorld, type World } from './world.ts';

/** 1 % before and 1 % after. */
const SHARE = 0.01;
/** Lives are short, since each is followed by a look at the store at rest. */
const LIFE_MS = 10_000;
const SAMPLE = 5;
/** Light work, and much of it. */
const WORKERS = 8;

/** Runs until that many jobs were accepted. */
export async function runFaults(seed: number, jobs: number): Promise<World> {
  const world = await makeWorld({ seed });
  while (world.book.accepted.size < jobs) {
    const life = world.start({ engines: 'quick', faults: SHARE, workers: WORKERS });
    const voice = await life.ready;
    if (voice === null) throw new Error('the service ended before it listened');
    await verifyPast(world, voice, SAMPLE);
    const load = runLoad(world, life, voice);
    await sleep(LIFE_MS);
    await life.kill();
    await load;
    world.end(life);
    world.book.counts.kills += 1;
    await auditChildren(world);
    audit(world);
  }
  await comeToRest(world, true);
  return world;
}
