/** The small system programs that a child is started through, where the machine has them. */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Limits of one child, enforced by the kernel where `prlimit` is installed. */
export interface ChildLimits {
  /** Address space in bytes. */
  readonly memoryBytes?: number;
  /** Processor time in seconds. */
  readonly cpuSeconds?: number;
}

const WINDOWS_ENDINGS = ['.exe', '.cmd', '.bat'];

/** The full path of a program, or null when no folder of `searchPath` holds it. */
export function locateProgram(name: string, searchPath: string): string | null {
  const endings = process.platform === 'win32' ? WINDOWS_ENDINGS : [''];
  for (const folder of searchPath.split(delimiter)) {
    if (folder === '') continue;
    for (const ending of endings) {
      const candidate = join(folder, name + ending);
      if (isExecutable(candidate)) return candidate;
    }
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

let parentDeathSignal: boolean | undefined;

/** Not every `setpriv` knows the option (BusyBox's does not), so it is tried once. */
function hasParentDeathSignal(setpriv: string): boolean {
  if (parentDeathSignal === undefined) {
    try {
      execFileSync(setpriv, ['--pdeathsig', 'KILL', 'true'], { stdio: 'ignore', timeout: 2_000 });
      parentDeathSignal = true;
    } catch {
      parentDeathSignal = false;
    }
  }
  return parentDeathSignal;
}

/**
 * The words in front of a command: limits without a core dump (it would hold the media), an end together with
 * this process even if that is killed, and a low priority, so that a machine at work stays usable.
 */
export function launcher(limits: ChildLimits, searchPath: string): string[] {
  const words: string[] = [];
  const prlimit = locateProgram('prlimit', searchPath);
  if (prlimit !== null) {
    words.push(prlimit, '--core=0');
    if (limits.memoryBytes !== undefined) words.push(`--as=${limits.memoryBytes}`);
    if (limits.cpuSeconds !== undefined) words.push(`--cpu=${limits.cpuSeconds}`);
  }
  const setpriv = locateProgram('setpriv', searchPath);
  if (setpriv !== null && hasParentDeathSignal(setpriv)) words.push(setpriv, '--pdeathsig', 'KILL');
  const nice = locateProgram('nice', searchPath);
  // 5 of 19: behind the user's own programs, ahead of idle work.
  if (nice !== null) words.push(nice, '-n', '5');
  return words;
}
