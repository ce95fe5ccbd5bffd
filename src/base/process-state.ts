/** Whether a process of this machine still runs. */
import { readFileSync, readlinkSync } from 'node:fs';
import { errorCode } from './system-error.ts';

export type ProcessState =
  | { readonly state: 'gone' }
  /** `started`: when, in the notation of this system; null where it is unknown. */
  | { readonly state: 'running'; readonly started: string | null };

/** Where a pid means something: containers count their own. Null on systems without them. */
export function readPidSpace(): string | null {
  return readOrNull(() => readlinkSync('/proc/self/ns/pid'));
}

/** Null for what cannot be read. */
export function readOrNull(read: () => string): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** Looks at a process of the own pid space. */
export function lookUpProcess(pid: number): ProcessState {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it is there, and another user's.
    if (errorCode(error) !== 'EPERM') return { state: 'gone' };
  }
  const stat = readOrNull(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat === null ? { state: 'running', started: null } : parseStat(stat);
}

/** Reads `/proc/PID/stat`. Source: proc_pid_stat(5): field 3 is the state, field 22 the start in ticks since the boot. */
export function parseStat(stat: string): ProcessState {
  // The name of the program, field 2, is in parentheses and may hold blanks and parentheses itself.
  const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (/^[ZXx]$/.test(state)) return { state: 'gone' };
  return { state: 'running', started: fields[18] ?? null };
}
