/** How well one video uses the cores: the time of `vloc localize`, its CPU time, and the same of the engines called bare. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';
import { median } from './measure.ts';
import { runTimed, type TimedRun } from './timed-run.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const ROUNDS = 3;
/** Twice the sample: what happens once for a video, such as starting and loading models, is not most of the time. */
const SECONDS = 61.4;
/** The limits are for a machine with so many cores; other machines use the first two. */
const CORES = 2;

export async function measureOneVideo(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  const video = join(folder, 'video.mp4');
  const loop = ['-stream_loop', '1', '-i', here('../test/fixtures/sample.mp4'), '-t', String(SECONDS)];
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', ...loop, '-c', 'copy', video]);
  const options = ['--from', 'en', '--to', 'es', '--profile', 'local', '--clobber'];
  try {
    const vloc: TimedRun[] = [];
    const bare: TimedRun[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      // A state folder of its own: nothing is kept from an earlier round.
      const env = { VLOC_STATE_DIR: join(folder, `state-${round}`) };
      const out = ['--out', join(folder, `out-${round}`)];
      vloc.push(
        timesOf([process.execPath, here('../bin/vloc.js'), 'localize', video, ...options, ...out], env),
      );
      bare.push(timesOf([process.execPath, here('bare-engines.ts'), video], {}));
    }
    return [
      ...figures('`vloc localize` of one video', vloc, true),
      ...figures('the engines called bare', bare, false),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function figures(what: string, times: readonly TimedRun[], isLimited: boolean): Figure[] {
  const middle = (value: (run: TimedRun) => number) => median(times.map(value));
  const limit = (atMost: number) => (isLimited ? { limit: { atMost } } : {});
  return [
    {
      name: `${what}: wall ÷ CPU time`,
      value: middle(({ seconds, cpuSeconds }) => seconds / cpuSeconds),
      unit: '×',
      ...limit(0.6),
    },
    {
      name: `${what}: wall ÷ its length`,
      value: middle(({ seconds }) => seconds / SECONDS),
      unit: '×',
      ...limit(0.4),
    },
    {
      name: `${what}: CPU time ÷ its length`,
      value: middle(({ cpuSeconds }) => cpuSeconds / SECONDS),
      unit: '×',
    },
  ];
}

/** Runs a command on two cores. */
function timesOf(command: readonly string[], env: NodeJS.ProcessEnv): TimedRun {
  return runTimed(
    availableParallelism() > CORES ? ['taskset', '-c', `0-${CORES - 1}`, ...command] : command,
    env,
  );
}
