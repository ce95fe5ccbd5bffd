/** `npm run torture`: kills the service in every way we know, and fails when anything is lost, doubled or left behind. */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { POSTGRES_PROGRAMS } from '../support/postgres.ts';
import { runCluster } from './cluster.ts';
import { CLUSTER_FAULTS, type ClusterFault } from './cluster-faults.ts';
import { runFaults } from './faults.ts';
import { runKills } from './kills.ts';
import { runPair } from './pair.ts';
import { makeDisk, runPower } from './power.ts';
import { canTrace, runSyscalls } from './syscalls.ts';
import { makeWorld, type World } from './world.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    // Source: specification of reliability, the fault store.
    jobs: { type: 'string', default: '2000' },
    // Source: the same, power loss.
    losses: { type: 'string', default: '50' },
    // Source: the requirements of scale-out.
    'database-kills': { type: 'string', default: '20' },
    /** Of `cluster`, separated by commas; empty: none. */
    faults: { type: 'string', default: CLUSTER_FAULTS.join(',') },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
  },
});
const [seed, kills] = [Number(values.seed), Number(values.kills)];
const only = positionals[0] ?? values.only;

const PAIRS = 10;

const tell = (line: string) => process.stdout.write(`${line}\n`);

/** Set where mounts are seen by nobody else: another namespace made meanwhile would keep a lost disk alive. */
const OWN_MOUNTS = 'VLOC_TORTURE_OWN_MOUNTS';

function runWithOwnMounts(): null {
  const words = [
    '-m',
    process.execPath,
    import.meta.filename,
    '--only',
    'power',
    '--seed',
    String(seed),
    '--losses',
    values.losses,
  ];
  const { status } = spawnSync('unshare', words, {
    stdio: 'inherit',
    env: { ...process.env, [OWN_MOUNTS]: '1' },
  });
  if (status === null) return leaveOut('power: left out, since unshare cannot be used here');
  if (status !== 0) process.exitCode = 1;
  return null;
}

function leaveOut(reason: string): null {
  tell(reason);
  return null;
}

const PARTS: Readonly<Record<string, () => Promise<World | null>>> = {
  async kills() {
    const world = await makeWorld({ seed });
    const report = (done: number) => {
      if (done % 20 === 0) tell(`  ${done} kills, ${world.book.accepted.size} jobs accepted`);
    };
    await runKills(world, { kills, settleEvery: 20, realEvery: 20, report });
    return world;
  },
  async pairs() {
    const world = await makeWorld({ seed });
    for (let round = 0; round < PAIRS; round += 1) await runPair(world);
    return world;
  },
  async syscalls() {
    if (!canTrace()) return leaveOut('syscalls: left out, since strace cannot be used here');
    return runSyscalls(seed, tell);
  },
  faults: () => runFaults(seed, Number(values.jobs)),
  async power() {
    if (process.env[OWN_MOUNTS] === undefined) return runWithOwnMounts();
    const disk = makeDisk();
    if (disk === null) return leaveOut('power: left out, since no file can be mounted as a disk here');
    const report = (done: number) => done % 10 === 0 && tell(`  ${done} losses of power`);
    const world = await runPower(seed, Number(values.losses), disk, report);
    const close = () => {
      world.close();
      disk.close();
    };
    return { ...world, close };
  },
  async cluster() {
    if (POSTGRES_PROGRAMS === null) return leaveOut('cluster: left out, since PostgreSQL is not installed');
    const databaseKills = Number(values['database-kills']);
    const startedAt = Date.now();
    const { counts, violations } = await runCluster({
      kills,
      databaseKills,
      faults: readFaults(),
      rounds: Number(values.rounds),
      seed,
      tell,
    });
    printResult('cluster', { ...counts, violations: violations.length }, startedAt);
    printViolations(violations);
    return null;
  },
};

function readFaults(): ClusterFault[] {
  const names = values.faults.split(',').filter((name) => name !== '');
  return names.map((name) => {
    const fault = CLUSTER_FAULTS.find((each) => each === name);
    if (fault === undefined)
      throw new Error(`there is no fault "${name}"; there are ${CLUSTER_FAULTS.join(', ')}`);
    return fault;
  });
}

function printResult(name: string, counts: Readonly<Record<string, number>>, startedAt: number): void {
  const parts = Object.entries(counts).map(([what, count]) => `${count} ${what}`);
  tell(`${name}: ${parts.join(', ')} in ${Math.round((Date.now() - startedAt) / 1000)} s`);
}

function printViolations(violations: readonly string[]): void {
  for (const violation of violations.slice(0, 20)) tell(`  ${violation}`);
  if (violations.length > 0) process.exitCode = 1;
}

if (only !== undefined && !Object.hasOwn(PARTS, only)) {
  throw new Error(`there is no part "${only}"; there are ${Object.keys(PARTS).join(', ')}`);
}
tell(`seed ${seed}`);
for (const [name, run] of Object.entries(PARTS)) {
  if (only !== undefined && only !== name) continue;
  const startedAt = Date.now();
  const world = await run();
  if (world === null) continue;
  const { counts, accepted, violations } = world.book;
  printResult(name, { ...counts, jobs: accepted.size, violations: violations.length }, startedAt);
  printViolations(violations);
  world.close();
}
