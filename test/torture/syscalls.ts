/** A kill at each system call that writes, from the create request of one job to its delivered end. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { audit } from './audit.ts';
import type { Intent } from './book.ts';
import { comeToRest } from './kills.ts';
import type { Life, Voice } from './life.ts';
import { submit } from './load.ts';
import { auditChildren } from './orphans.ts';
import { makeIntent } from './requests.ts';
import { makeWorld, type World } from './world.ts';

/**
 * What writes to disk: SQLite the first two, results the others. Plain `write` also wakes threads and fills pipes; what it
 * writes to files counts only once a later call of these made it last.
 */
const CALLS = ['pwrite64', 'fdatasync', 'fsync', 'rename', 'mkdir', 'unlink', 'rmdir'] as const;
const STEP_MS = 20;
const PATIENCE_MS = 170_000;

/** Whether `strace` is there and may look into a process. */
export function canTrace(): boolean {
  try {
    execFileSync('strace', ['-f', '-qq', '-o', '/dev/null', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Returns the world of the sweep, whose book has all that was found. */
export async function runSyscalls(seed: number, report: (line: string) => void): Promise<World> {
  const world = await makeWorld({ seed });
  // The tables are created before, so that every point is in the life of a job.
  await comeToRest(world, false);
  const template = mkdtempSync(join(world.root, 'template-'));
  cpSync(world.stateDir, template, { recursive: true });
  const renew = () => {
    rmSync(world.stateDir, { recursive: true, force: true });
    cpSync(template, world.stateDir, { recursive: true });
    world.book.accepted.clear();
    world.book.unanswered.clear();
    world.book.spent.length = 0;
  };
  const points = await countPoints(world);
  report(`  points: ${CALLS.map((call) => `${points[call] ?? 0} ${call}`).join(', ')}`);
  for (const call of CALLS) {
    for (let at = 1; at <= (points[call] ?? 0); at += 1) {
      renew();
      const before = world.book.violations.length;
      await dieAt(world, call, at);
      for (let index = before; index < world.book.violations.length; index += 1) {
        world.book.violations[index] = `killed at ${call} ${at}: ${world.book.violations[index]}`;
      }
    }
  }
  return world;
}

/** strace counts the calls of each thread for itself: with one thread beside the main one, few points share a number. */
function strace(...options: readonly string[]): string[] {
  return ['strace', '-f', '-qq', '-E', 'UV_THREADPOOL_SIZE=1', ...options];
}

/** The most calls of any one thread. */
async function countPoints(world: World): Promise<Readonly<Record<string, number>>> {
  const log = join(world.root, 'trace');
  const life = world.start({ engines: 'quick' }, strace('-o', log, '-e', `trace=${CALLS.join(',')}`));
  const voice = await life.ready;
  if (voice === null) throw new Error('the service does not start under strace');
  await oneJob(world, life, voice);
  await life.kill();
  world.end(life);
  const counts = new Map<string, number>();
  const most: Record<string, number> = {};
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const [found, thread, call] = /^(\d+) +(\w+)\(/.exec(line) ?? [];
    if (found === undefined || thread === undefined || call === undefined) continue;
    const count = (counts.get(`${thread} ${call}`) ?? 0) + 1;
    counts.set(`${thread} ${call}`, count);
    most[call] = Math.max(most[call] ?? 0, count);
  }
  return most;
}

async function dieAt(world: World, call: string, at: number): Promise<void> {
  const inject = ['-o', '/dev/null', '-e', `trace=${call}`, '-e', `inject=${call}:signal=KILL:when=${at}`];
  const life = world.start({ engines: 'quick' }, strace(...inject));
  const voice = await life.ready;
  if (voice !== null) await oneJob(world, life, voice);
  await life.kill();
  world.end(life);
  world.book.counts.kills += 1;
  await auditChildren(world);
  audit(world);
  await comeToRest(world, false);
}

/** A dub, whose sound is made by a child and moved to the shelf, and whose end is reported. */
function makeTold(world: World): Intent {
  const intent = makeIntent(world);
  return intent.kind === 'dubbing' && 'callback_url' in intent.body ? intent : makeTold(world);
}

/** One job from its request to its delivered end, or to the death of the process. */
async function oneJob(world: World, life: Life, voice: Voice): Promise<void> {
  const intent = makeTold(world);
  const giveUpAt = Date.now() + PATIENCE_MS;
  try {
    const { json } = await submit(world, voice, intent);
    // Asking the service would write as well: every request leaves a nonce.
    while (!life.over() && Date.now() < giveUpAt && !world.receiver.heard.has(json.id)) await sleep(STEP_MS);
    // The end of the delivery is written after its answer.
    await Promise.race([life.ended, sleep(10 * STEP_MS)]);
  } catch (error) {
    await Promise.race([life.ended, sleep(PATIENCE_MS, undefined, { ref: false })]);
    if (!life.over()) world.book.violations.push(`a request failed while the service lived: ${error}`);
  }
}
