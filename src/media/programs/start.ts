/** Starts every program. Loading execa takes longer than a whole command without a program, so this file is imported late. */
import { execa, type ResultPromise } from 'execa';

export type { Result as ProgramResult } from 'execa';

/** Time for a clean exit before a group is killed, in milliseconds. Cancelling must take less than 2 s. */
const GRACE_MS = 1_200;

/** How long output may arrive after the end of a program, in milliseconds: the system delivers it immediately. */
const LATE_OUTPUT_MS = 1_000;

const ALWAYS = { extendEnv: false, reject: false } as const;

/** Starts a program with the variables that it is given and no others. What comes of it is in its result, also a failure. */
export const startProgram = execa(ALWAYS);

/** The same for one that leads a group of its own, such as a pipeline, which is cancelled as a whole. */
export const startGroup = execa({
  ...ALWAYS,
  killDescendants: true,
  forceKillAfterDelay: GRACE_MS,
  // It would ask, and this process would not be there to insist.
  cleanup: false,
});

type Program = Pick<ResultPromise, 'kill' | 'iterable' | 'nodeChildProcess' | 'stdout' | 'stderr'>;

const groups = new Set<Pick<Program, 'kill'>>();

process.once('exit', () => {
  for (const group of groups) group.kill('SIGKILL');
});

/** Ends a group with this process. */
export function endWithProcess(group: Pick<Program, 'kill'> & PromiseLike<unknown>): void {
  groups.add(group);
  group.then(() => groups.delete(group));
}

/**
 * Does not wait for what a program leaves running, which may hold its output open. Of a group, it is ended; a process that
 * has left the group cannot be.
 */
export function endWithLeader({ nodeChildProcess, kill, stdout, stderr }: Omit<Program, 'iterable'>): void {
  nodeChildProcess.once('exit', () => {
    kill('SIGKILL');
    setTimeout(() => [stdout, stderr].forEach((pipe) => void pipe?.destroy()), LATE_OUTPUT_MS).unref();
  });
}

/** The lines of its output as they arrive, without empty ones. A bar that shows progress ends its lines with CR alone. */
export async function* linesOf(program: Pick<Program, 'iterable'>, from: 'stdout' | 'stderr' | 'all') {
  for await (const line of program.iterable({ from })) {
    for (const part of String(line).split('\r')) if (part !== '') yield part;
  }
}
