/** Processes under strace, which ends them at a system call on one of their files, or makes one fail. */
import { execFile, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** Without `--seccomp-bpf`, although it halves the time: strace then injects nothing at some calls. */
export const STRACE = ['-f', '-qq'] as const;

/** False on systems without strace, and in containers that do not allow to trace. */
export const HAS_STRACE =
  spawnSync('strace', [...STRACE, '-o', '/dev/null', '-e', 'trace=link', 'true']).status === 0;

/** Those that change the disk, or decide what of it is durable. */
const CALLS = [
  ...['openat', 'mkdir', 'write', 'writev', 'pwrite64', 'pwritev', 'ftruncate'],
  ...['fsync', 'fdatasync', 'link', 'rename', 'unlink', 'close'],
] as const;

/** A process, and the files by which its calls are counted: those of SQLite, and others, which may have a thread of their own. */
export interface SweptProcess {
  readonly command: readonly string[];
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly files: { readonly records: readonly string[]; readonly results: readonly string[] };
}

/** The call at which a process ends: the so-manieth of its name on those files. */
export interface SweepPoint {
  readonly files: keyof SweptProcess['files'];
  readonly call: string;
  readonly time: number;
  /** True once a run has come to the download. */
  readonly isLate: boolean;
}

interface Ended {
  readonly stdout: string;
  /** False when it ended before it came to its point. */
  readonly isKilled: boolean;
}

async function run(program: string, words: readonly string[], around: object = {}): Promise<Ended> {
  try {
    return { ...(await promisify(execFile)(program, words, around)), isKilled: false };
  } catch (error) {
    // A process that was killed has said something before. strace ends by the same signal as what it traces.
    if (error instanceof Error && 'stdout' in error && 'signal' in error && error.signal === 'SIGKILL')
      return { stdout: String(error.stdout), isKilled: true };
    throw error;
  }
}

function trace(
  { command, cwd, env = process.env }: SweptProcess,
  files: readonly string[],
  options: readonly string[],
): Promise<Ended> {
  const places = files.flatMap((path) => ['-P', path]);
  // strace counts the calls of each thread; everything but SQLite works in one.
  const around = { cwd, env: { ...env, UV_THREADPOOL_SIZE: '1' } };
  return run('strace', [...STRACE, ...options, ...places, ...command], around);
}

export function killAt(
  swept: SweptProcess,
  { files, call, time }: Omit<SweepPoint, 'isLate'>,
): Promise<Ended> {
  const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:signal=KILL:when=${time}`];
  return trace(swept, swept.files[files], ['-o', '/dev/null', ...inject]);
}

/** All points of a process that nothing ends, in the order in which it comes to them. @param file for strace */
export async function pointsOf(swept: SweptProcess, file: string): Promise<readonly SweepPoint[]> {
  const all = [...swept.files.records, ...swept.files.results];
  await trace(swept, all, ['-y', '-o', file, '-e', `trace=${CALLS.join(',')}`]);
  const counts = new Map<string, number>();
  const points = new Map<string, SweepPoint>();
  let isLate = false;
  for (const row of (await readFile(file, 'utf8')).split('\n')) {
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

/** A file of records, and what lies beside it while it is written or made anew. */
export const filesOf = (path: string) => ['', '-journal', '.new', '.new-journal'].map((end) => path + end);

const WRITER = join(import.meta.dirname, 'writer.ts');

/** The writer of so many rows into a database. */
export const writerOf = (path: string, count: number): SweptProcess => ({
  command: [process.execPath, WRITER, path, String(count)],
  files: { records: filesOf(path), results: [dirname(path)] },
});

/** Numbers of the rows that the writer has acknowledged, and its failures. */
export function readWritten({ stdout }: Ended) {
  const rows = stdout.split('\n');
  const behind = (word: string) =>
    rows.filter((row) => row.startsWith(word)).map((row) => row.slice(word.length));
  return { acknowledged: behind('acknowledged ').map(Number), failures: behind('failed ') };
}

export async function runWriter(path: string, count: number) {
  const [program = '', ...words] = writerOf(path, count).command;
  return readWritten(await run(program, words));
}

/** The writer where files may have at most that many kilobytes: the write that crosses it is a short one. */
export async function runWriterWithFileLimit(path: string, count: number, kilobytes: number) {
  // Bash counts in units of 1,024 bytes; an ignored signal stays ignored in the program that it becomes.
  const script = `trap '' XFSZ; ulimit -f ${kilobytes}; exec "$0" "$@"`;
  return readWritten(await run('bash', ['-c', script, ...writerOf(path, count).command]));
}

/** The writer with a call that fails. @param inject as strace takes it */
export async function runFailingWriter(path: string, count: number, inject: string) {
  const writer = writerOf(path, count);
  const all = [...writer.files.records, ...writer.files.results];
  const [call] = inject.split(':');
  const options = ['-o', '/dev/null', '-e', `trace=${call}`, '-e', `inject=${inject}`];
  return readWritten(await trace(writer, all, options));
}
