/** Runs of a batch under strace, which ends them at a system call on one of their files. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleScript } from '../../../support/bundled.ts';
import { STRACE } from '../../records/support/strace.ts';
import { OWN_RUN, type OwnRun } from './own-run.ts';

/** A result in the folder of results, and what it is called until it is whole. */
export const resultIn = (language: string) => `talk.${language}.mp4`;
const partOf = (result: string) => `.${result}.part`;

/** Those of a run with the one language of most scenes. */
export const RESULT = resultIn('es');
export const PART = partOf(RESULT);

/**
 * The files that a run must never leave in a state that the next one cannot continue from, and their folders. strace counts the
 * calls of each thread: SQLite works in the first one, and everything else in another.
 */
const SWEPT = {
  records: ({ out, stateDir }: OwnRun) =>
    [join(out, '.vloc'), stateDir].flatMap((folder) =>
      ['', '-journal', '.new', '.new-journal'].map((end) => join(folder, `records.db${end}`)),
    ),
  results: ({ out, languages = [] }: OwnRun) => {
    const results = languages.map(resultIn);
    return [out, ...[...results.map(partOf), ...results, '.vloc'].map((name) => join(out, name))];
  },
} as const;

/** Those that change the disk, or decide what of it is durable. */
const CALLS = [
  ...['openat', 'mkdir', 'write', 'writev', 'pwrite64', 'pwritev', 'ftruncate'],
  ...['fsync', 'fdatasync', 'link', 'rename', 'unlink', 'close'],
] as const;

/** The call at which a run ends: the so-manieth of its name on those files. */
export interface SweepPoint {
  readonly files: keyof typeof SWEPT;
  readonly call: string;
  readonly time: number;
  /** True once the run has come to the download. */
  readonly isLate: boolean;
}

/** A process that is swept, and the files by which its calls are counted. */
export interface SweptProcess {
  readonly command: readonly string[];
  readonly cwd?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly files: { readonly [Files in SweepPoint['files']]: readonly string[] };
}

async function processOf(run: OwnRun): Promise<SweptProcess> {
  return {
    command: [process.execPath, await bundleScript(OWN_RUN), JSON.stringify(run)],
    env: process.env,
    files: { records: SWEPT.records(run), results: SWEPT.results(run) },
  };
}

/** True when the run was killed at the point; false when it ended before it came there. */
export async function runUntil(run: OwnRun, point: Omit<SweepPoint, 'isLate'>): Promise<boolean> {
  return killAt(await processOf(run), point);
}

/** The same of a process. */
export async function killAt(
  swept: SweptProcess,
  { files, call, time }: Omit<SweepPoint, 'isLate'>,
): Promise<boolean> {
  const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:signal=KILL:when=${time}`];
  try {
    await strace(swept, swept.files[files], ['-o', '/dev/null', ...inject]);
    return false;
  } catch (error) {
    // strace ends by the same signal as what it traces.
    if (error instanceof Error && 'signal' in error && error.signal === 'SIGKILL') return true;
    throw error;
  }
}

/** All points of a run that nothing ends, in the order in which it comes to them. @param trace a file for strace */
export async function listPoints(run: OwnRun, trace: string): Promise<readonly SweepPoint[]> {
  return pointsOf(await processOf(run), trace);
}

/** The same of a process. */
export async function pointsOf(swept: SweptProcess, trace: string): Promise<readonly SweepPoint[]> {
  const all = [...swept.files.records, ...swept.files.results];
  await strace(swept, all, ['-y', '-o', trace, '-e', `trace=${CALLS.join(',')}`]);
  const counts = new Map<string, number>();
  const points = new Map<string, SweepPoint>();
  let isLate = false;
  for (const row of (await readFile(trace, 'utf8')).split('\n')) {
    isLate ||= row.includes('.part');
    const [, thread, call] = /^(\d+) +(\w+)\(/.exec(row) ?? [];
    if (call === undefined) continue;
    const files = row.includes('/records.db') ? 'records' : 'results';
    const counted = `${thread} ${files} ${call}`;
    const time = (counts.get(counted) ?? 0) + 1;
    counts.set(counted, time);
    const point = `${files} ${call} ${time}`;
    if (!points.has(point)) points.set(point, { files, call, time, isLate });
  }
  return [...points.values()];
}

async function strace(
  { command, cwd, env }: SweptProcess,
  files: readonly string[],
  options: readonly string[],
): Promise<void> {
  const places = files.flatMap((path) => ['-P', path]);
  // Everything but SQLite works in one thread.
  const own = { cwd, env: { ...env, UV_THREADPOOL_SIZE: '1' } };
  await promisify(execFile)('strace', [...STRACE, ...options, ...places, ...command], own);
}
