/** Lets a service come to rest, and checks what must hold once nothing is open. */
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '../service/harness/caller.ts';
import { audit, openDatabase } from './audit.ts';
import type { Life, Voice } from './life.ts';
import { replayOne, submit } from './load.ts';
import { findOrphanFiles } from './orphans.ts';
import type { World } from './world.ts';

/** Source: specification of reliability: a job ends within 60 s of the restart. */
const PATIENCE_MS = 60_000;
const SWEEP_PATIENCE_MS = 60_000;
/** Beyond the age at which the sweep takes a file for forgotten. */
const FORGOTTEN_MS = 3 * 3_600_000;
const SWEEP_INTERVAL_MS = 61_000;
/** Between two looks at something that comes about in the other process. */
const LOOK_MS = 20;

/** What a caller does after a break: it sends again what was not answered, and tries what it must not get away with. */
export async function verifyPast(world: World, voice: Voice, sample: number): Promise<void> {
  const { book, random } = world;
  for (const { path, headers } of book.spent.splice(0).slice(-sample)) {
    const { status } = await send(voice.origin + path, { headers });
    book.counts.nonces += 1;
    if (status !== 401 && status < 500) book.violations.push(`a nonce was accepted twice: ${status}`);
  }
  for (const intent of book.unanswered.values()) await submit(world, voice, intent);
  const ids = [...book.accepted.keys()];
  const older = Array.from({ length: Math.min(sample, ids.length) }, () => random.pick(ids));
  for (const id of new Set([...ids.slice(-sample), ...older])) await replayOne(world, voice, id);
}

/** Runs until no job, validation or delivery is left; then everything must add up. Returns the seconds it took. */
export async function settle(world: World, life: Life, voice: Voice): Promise<void> {
  const { book } = world;
  const giveUpAt = Date.now() + PATIENCE_MS;
  for (let wait = nextDue(world, life.now()); wait !== null; wait = nextDue(world, life.now())) {
    if (Date.now() > giveUpAt) {
      book.violations.push(`not everything came to its end: ${describeOpen(world)}`);
      return;
    }
    if (wait > 0) await life.advance(wait);
    await sleep(LOOK_MS);
  }
  audit(world);
  auditEvents(world);
  const { status, json } = await voice.caller.get('/v1/credits');
  if (status === 200 && json.reserved_credits !== 0) {
    book.violations.push(`${json.reserved_credits} credits are reserved, and no job is open`);
  }
}

const OPEN = `
  SELECT 'job' AS what, id, run_after, lease_owner FROM jobs WHERE status IN ('queued', 'processing')
  UNION ALL SELECT 'upload', id, run_after, lease_owner FROM uploads WHERE status = 'validating'
  UNION ALL SELECT 'delivery', id, run_after, lease_owner FROM deliveries WHERE status = 'pending'`;

/** In how many ms something that waits is due; 0 if something runs; null if everything is done. */
function nextDue(world: World, now: number): number | null {
  const database = openDatabase(world);
  try {
    const rows = database.prepare(OPEN).all();
    if (rows.length === 0) return null;
    if (rows.some(({ lease_owner }) => lease_owner !== null)) return 0;
    return Math.max(0, Math.min(...rows.map(({ run_after }) => Number(run_after))) - now);
  } finally {
    database.close();
  }
}

function describeOpen(world: World): string {
  const database = openDatabase(world);
  try {
    return JSON.stringify(database.prepare(OPEN).all().slice(0, 5));
  } finally {
    database.close();
  }
}

/** Every job with a callback was reported, always under the same id. */
function auditEvents(world: World): void {
  const { book, receiver } = world;
  const database = openDatabase(world);
  try {
    const rows = database
      .prepare(
        'SELECT deliveries.id, job_id, jobs.status AS ended FROM deliveries JOIN jobs ON jobs.id = job_id',
      )
      .all();
    for (const { id, job_id, ended } of rows) {
      const heard = receiver.heard.get(String(job_id)) ?? [];
      if (heard.length === 0) book.violations.push(`the end of ${job_id} was never told`);
      if (heard.some(({ eventId, status }) => eventId !== id || status !== ended)) {
        book.violations.push(`the end of ${job_id} was told in two ways: ${JSON.stringify(heard)}`);
      }
    }
  } finally {
    database.close();
  }
}

/** Moves time on until the sweep has passed: nothing may be left that no record names. */
export async function auditSweep(world: World, life: Life): Promise<void> {
  await life.advance(FORGOTTEN_MS);
  const giveUpAt = Date.now() + SWEEP_PATIENCE_MS;
  let left: string[];
  do {
    await life.advance(SWEEP_INTERVAL_MS);
    await sleep(LOOK_MS);
    left = findOrphanFiles(world);
  } while (left.length > 0 && Date.now() < giveUpAt);
  for (const name of left) world.book.violations.push(`${name} is left and no record names it`);
}
