/**
 * `vloc localize` of one video: what the service, the upload and the download cost in addition to the engines, how well it uses the
 * cores, and what another language and other options cost, for which the stages that they have in common are not computed again.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
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
const SHORT_SECONDS = 3;
/** The limits are for a machine with so many cores; other machines use the first two. */
const CORES = 2;

interface Round {
  readonly vloc: TimedRun;
  readonly bare: TimedRun;
  readonly language: TimedRun;
  readonly options: TimedRun;
}

export async function measureOverhead(isShort: boolean): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  const seconds = isShort ? SHORT_SECONDS : SECONDS;
  const video = join(folder, 'video.mp4');
  const loop = ['-stream_loop', '1', '-i', here('../test/fixtures/sample.mp4'), '-t', String(seconds)];
  try {
    execFileSync('ffmpeg', ['-nostdin', '-v', 'error', ...loop, '-c', 'copy', video]);
    const rounds = Array.from({ length: isShort ? 1 : ROUNDS }, (_, number) =>
      measureRound(video, join(folder, String(number))),
    );
    return figuresOf(rounds, seconds);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @param folder is new, so that nothing is kept from an earlier round: neither stages nor records of a batch */
function measureRound(video: string, folder: string): Round {
  const localize = (language: string, ...options: readonly string[]) => {
    const out = join(folder, ['out', language, ...options].join(''));
    const words = ['localize', video, '--from', 'en', '--to', language, '--out', out, ...options];
    const run = timesOf([process.execPath, here('../bin/vloc.js'), ...words], {
      VLOC_PROFILE: 'local',
      VLOC_STATE_DIR: join(folder, 'state'),
    });
    if (statSync(join(out, `video.${language}.mp4`)).size === 0) throw new Error(`${out} has an empty video`);
    return run;
  };
  return {
    vloc: localize('es'),
    bare: timesOf([process.execPath, here('bare-engines.ts'), video], {}),
    language: localize('ca'),
    options: localize('es', '--subtitle-output', 'soft'),
  };
}

/** A fifth of the first language: its translation, its voice and its export. */
const FURTHER = 0.2;

function figuresOf(rounds: readonly Round[], seconds: number): Figure[] {
  const ratio = (value: (round: Round) => number) => ({
    value: median(rounds.map(value)),
    unit: '×' as const,
  });
  const row = '`vloc localize` of one video';
  return [
    {
      name: `${row}, wall ÷ the engines alone`,
      ...ratio(({ vloc, bare }) => vloc.seconds / bare.seconds),
      limit: { atMost: 1.15 },
      // Both run the engines. Other work on the machine can slow one of them down.
      plausible: [0.3, 30],
    },
    {
      name: `${row} on ${CORES} cores, wall ÷ CPU time`,
      ...ratio(({ vloc }) => vloc.seconds / vloc.cpuSeconds),
      limit: { atMost: 0.65 },
      // No less than all cores, but for the rounding of short times.
      plausible: [0.9 / CORES, 100],
    },
    {
      name: `${row} on ${CORES} cores, wall ÷ its length`,
      ...ratio(({ vloc }) => vloc.seconds / seconds),
      limit: { atMost: 0.45 },
      plausible: [0.02, 500],
    },
    {
      name: `${row}, CPU time ÷ its length`,
      ...ratio(({ vloc }) => vloc.cpuSeconds / seconds),
      plausible: [0.02, 100],
    },
    {
      name: 'the same video in another language ÷ in the first, CPU',
      ...ratio(({ vloc, language }) => language.cpuSeconds / vloc.cpuSeconds),
      limit: { atMost: FURTHER },
      plausible: [0.005, 5],
    },
    {
      name: 'the same video and language with other options ÷ the first time, CPU',
      ...ratio(({ vloc, options }) => options.cpuSeconds / vloc.cpuSeconds),
      limit: { atMost: FURTHER },
      plausible: [0.005, 5],
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
