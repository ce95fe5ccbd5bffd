/** Two processes that share one state folder, one of which is killed while both work. */
import { setTimeout as sleep } from 'node:timers/promises';
import { audit, openDatabase } from './audit.ts';
import type { Voice } from './life.ts';
import { runLoad } from './load.ts';
import { auditChildren } from './orphans.ts';
import { settle } from './settle.ts';
import type { World } from './world.ts';

/** How long both are given to have work in hand at the same time. */
const PATIENCE_MS = 60_000;
/** Steps in which leases that live are renewed, past the end of those that do not. */
const STEP_MS = 4000;
const STEPS = 5;

/** Kills one while both hold jobs; the other brings all to their ends. */
export async function runPair(world: World): Promise<void> {
  const [victim, survivor] = [world.start({ engines: 'mixed' }), world.start({ engines: 'quick' })];
  const [first, second] = await Promise.all([victim.ready, survivor.ready]);
  if (first === null || second === null) throw new Error('a service ended before it listened');
  const load = runLoad(world, victim, first);
  const giveUpAt = Date.now() + PATIENCE_MS;
  while (!bothWork(world, first, second)) {
    if (Date.now() > giveUpAt) {
      world.book.violations.push('the two processes did not share the work');
      break;
    }
    await sleep(5);
  }
  await victim.kill();
  world.book.counts.kills += 1;
  await load;
  await auditChildren(world, [second.pid]);
  audit(world);
  for (let step = 0; step < STEPS; step += 1) {
    await survivor.advance(STEP_MS);
    await sleep(20);
  }
  await settle(world, survivor, second);
  await survivor.kill();
  world.end(survivor);
  await auditChildren(world);
}

/** Leases name the process that holds them. */
function bothWork(world: World, ...voices: readonly Voice[]): boolean {
  const database = openDatabase(world);
  try {
    const rows = database
      .prepare('SELECT DISTINCT lease_owner FROM jobs WHERE lease_owner IS NOT NULL')
      .all();
    return voices.every(({ pid }) =>
      rows.some(({ lease_owner }) => String(lease_owner).startsWith(`${pid}-`)),
    );
  } finally {
    database.close();
  }
}
