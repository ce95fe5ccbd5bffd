/** Kills at random moments, under load. */
import { setTimeout as sleep } from 'node:timers/promises';
import { audit } from './audit.ts';
import type { Life } from './life.ts';
import { runLoad } from './load.ts';
import { auditChildren } from './orphans.ts';
import { auditSweep, settle, verifyPast } from './settle.ts';
import type { World } from './world.ts';

export interface KillPlan {
  readonly kills: number;
  /** After so many kills everything is brought to its end. */
  readonly settleEvery: number;
  /** Every so many lives have the engines of this machine; 0: none. */
  readonly realEvery: number;
  /** Longest life under load, in ms; default 900. */
  readonly longestMs?: number;
  /** Called after every kill. */
  readonly report?: (done: number) => void;
}

/** What of the past is tried again in each life. */
const SAMPLE = 5;
/** Share of the lives that end before the service can listen, or soon after. */
const EARLY = 0.1;
const EARLY_MS = 700;
const LIFE_MS = 900;
/** Work of the real engines takes seconds. */
const REAL_LIFE_MS = 6000;

export async function runKills(world: World, plan: KillPlan): Promise<void> {
  for (let done = 1; done <= plan.kills; done += 1) {
    const real = plan.realEvery > 0 && done % plan.realEvery === 0;
    const life = world.start({ engines: real ? 'real' : 'mixed' });
    await liveAndDie(world, life, real ? REAL_LIFE_MS : (plan.longestMs ?? LIFE_MS));
    world.book.counts.kills += 1;
    await auditChildren(world);
    audit(world);
    if (done % plan.settleEvery === 0 || done === plan.kills) {
      await comeToRest(world, done === plan.kills);
    }
    plan.report?.(done);
  }
}

async function liveAndDie(world: World, life: Life, longestMs: number): Promise<void> {
  const { random } = world;
  if (random.chance(EARLY)) {
    await sleep(random.between(0, EARLY_MS));
    await life.kill();
    world.end(life);
    return;
  }
  const voice = await life.ready;
  if (voice === null) {
    world.book.violations.push('the service ended before it listened');
    return;
  }
  await verifyPast(world, voice, SAMPLE);
  const load = runLoad(world, life, voice);
  await sleep(random.between(0, longestMs));
  await life.kill();
  await load;
  world.end(life);
}

/** A life in which all ends are reached; the last one looks for forgotten files as well. */
export async function comeToRest(world: World, last: boolean): Promise<void> {
  const life = world.start({ engines: 'quick' });
  const voice = await life.ready;
  if (voice === null) throw new Error('the service ended before it listened');
  await verifyPast(world, voice, last ? world.book.accepted.size : SAMPLE);
  await settle(world, life, voice);
  if (last) await auditSweep(world, life);
  await life.kill();
  world.end(life);
  await auditChildren(world);
}
