/** Runs of a batch under strace, which ends them at a system call on one of their files. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { STRACE } from '../../records/support/strace.ts';
import type { SweptRun } from './swept-batch.ts';

/** A result in the folder of results, and what it is called until it is whole. */
export const resultIn = (language: string) => `talk.${language}.mp4`;
const partOf = (result: string) => `.${result}.part`;

/** Those of a run with the one language of most scenes. */
export const RESULT = resultIn('es');
export const PART = partOf(RESULT);

/** The files that a run must never leave in a state that the next one cannot continue from, and their folders. */
function sweptFiles({ out, stateDir, languages }: SweptRun): readonly string[] {
  const results = languages.map(resultIn);
  const records = ['', '-journal', '.new', '.new-journal'].map((end) => `records.db${end}`);
  const own = records.map((name) => `.vloc/${name}`);
  const names = [...results.map(partOf), ...results, '.vloc', ...own];
  return [...names.map((name) => join(out, name)), ...records.map((name) => join(stateDir, name)), out];
}

/** Those that change the disk, or decide what of it is durable. */
const CALLS = [
  ...['openat', 'mkdir', 'write', 'writev', 'pwrite64', 'pwritev', 'ftruncate'],
  ...['fsync', 'fdatasync', 'link', 'rename', 'unlink', 'close'],
] as const;

/** The call at which a run ends: the so-manieth of its name on the files. */
export interface SweepPoint {
  readonly call: string;
  readonly time: number;
  /** True once the run has come to the download. */
  readonly isLate: boolean;
}

/** strace counts the calls of each thread, so that all calls on files must come from one. */
const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };
const SCRIPT = join(import.meta.dirname, 'swept-run.ts');

/** True when the run was killed at the point; false when it ended before it came there. */
export async function runUntil(
  run: SweptRun,
  { call, time }: Pick<SweepPoint, 'call' | 'time'>,
): Promise<boolean> {
  const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:signal=KILL:when=${time}`];
  try {
    await strace(run, ['-o', '/dev/null', ...inject]);
    return false;
  } catch (error) {
    // strace ends by the same signal as what it traces.
    if (error instanceof Error && 'signal' in error && error.signal === 'SIGKILL') return true;
    throw error;
  }
}

/** All points of a run that nothing ends, in the order in which it comes to them. @param trace a file for strace */
export async function listPoints(run: SweptRun, trace: string): Promise<readonly SweepPoint[]> {
  await strace(run, ['-o', trace, '-e', `trace=${CALLS.join(',')}`]);
  const counts = new Map<string, number>();
  let isLate = false;
  return (await readFile(trace, 'utf8')).split('\n').flatMap((row) => {
    isLate ||= row.includes('.part');
    const call = /^\d+ +(\w+)\(/.exec(row)?.[1];
    if (call === undefined) return [];
    const time = (counts.get(call) ?? 0) + 1;
    counts.set(call, time);
    return [{ call, time, isLate }];
  });
}

async function strace(run: SweptRun, options: readonly string[]): Promise<void> {
  const files = sweptFiles(run).flatMap((path) => ['-P', path]);
  const command = [process.execPath, SCRIPT, JSON.stringify(run)];
  await promisify(execFile)('strace', [...STRACE, ...options, ...files, ...command], { env });
}
