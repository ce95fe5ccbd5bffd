/** Runs the writer of a database under strace, which ends it at a system call or makes one fail. */
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** Without `--seccomp-bpf`, although it halves the time: strace then injects nothing at some calls. */
export const STRACE = ['-f', '-qq'] as const;

/** False on systems without strace, and in containers that do not allow to trace. */
export const HAS_STRACE =
  spawnSync('strace', [...STRACE, '-o', '/dev/null', '-e', 'trace=link', 'true']).status === 0;

const WRITER = join(import.meta.dirname, 'writer.ts');

export interface Written {
  /** Numbers of the rows that were acknowledged. */
  readonly acknowledged: number[];
  readonly failures: string[];
  readonly isKilled: boolean;
}

/** strace counts the calls of each thread, so that all calls on files must come from one. */
const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };

function readOutput(output: string): Omit<Written, 'isKilled'> {
  const rows = output.split('\n');
  const behind = (word: string) =>
    rows.filter((row) => row.startsWith(word)).map((row) => row.slice(word.length));
  return {
    acknowledged: behind('acknowledged ').map(Number),
    failures: behind('failed '),
  };
}

async function run(program: string, parameters: readonly string[]): Promise<Written> {
  try {
    return {
      ...readOutput((await promisify(execFile)(program, parameters, { env })).stdout),
      isKilled: false,
    };
  } catch (error) {
    // A process that was killed has said something before. strace ends by the same signal as what it traces.
    if (error instanceof Error && 'stdout' in error && 'signal' in error && error.signal === 'SIGKILL') {
      return { ...readOutput(String(error.stdout)), isKilled: true };
    }
    throw error;
  }
}

export function runWriter(path: string, count: number): Promise<Written> {
  return run(process.execPath, [WRITER, path, String(count)]);
}

/** The writer where files may have at most that many kilobytes: the write that crosses it is a short one. */
export function runWriterWithFileLimit(path: string, count: number, kilobytes: number): Promise<Written> {
  // Bash counts in units of 1,024 bytes; an ignored signal stays ignored in the program that it becomes.
  const script = `trap '' XFSZ; ulimit -f ${kilobytes}; exec "$0" "$@"`;
  return run('bash', ['-c', script, process.execPath, WRITER, path, String(count)]);
}

export function runTraced(
  path: string,
  count: number,
  inject: string,
  trace = '/dev/null',
): Promise<Written> {
  const [call = ''] = inject.split(':');
  const files = ['', '-journal', '.new', '.new-journal'].map((end) => path + end);
  const places = [...files, dirname(path)].flatMap((place) => ['-P', place]);
  const injected = inject.includes(':') ? ['-e', `inject=${inject}`] : [];
  return run('strace', [
    ...[...STRACE, '-o', trace, '-e', `trace=${call}`, ...places, ...injected],
    ...[process.execPath, WRITER, path, String(count)],
  ]);
}

/** How often each of the system calls touches the file, its journal, its draft or its folder in a run that nothing ends. */
export async function countCalls(
  path: string,
  count: number,
  calls: readonly string[],
  trace: string,
): Promise<Map<string, number>> {
  await runTraced(path, count, calls.join(','), trace);
  const rows = readFileSync(trace, 'utf8').split('\n');
  return new Map(
    calls.map((call) => [call, rows.filter((row) => new RegExp(`^\\d+ +${call}\\(`).test(row)).length]),
  );
}
