/** Identifies the holder of a lock, and checks whether that process still runs. Source: reliability, "Rules of the client", 5. */

import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import * as v from 'valibot';
import { lookUpProcess, type ProcessState, readOrNull, readPidSpace } from '../../base/process-state.ts';

const holder = v.object({
  pid: v.number(),
  /** When the process started, in the notation of this system; null where it is unknown. */
  started: v.nullable(v.string()),
  /** Changes with every start of the machine; null where it is not known. */
  boot: v.nullable(v.string()),
  host: v.string(),
  /** Where the pid means something: containers count their own. */
  pid_space: v.nullable(v.string()),
  /** Random, so that no two holders are the same. */
  token: v.string(),
  /** RFC 3339. */
  since: v.string(),
  /** The current folder of the process; missing in files of earlier versions. */
  folder: v.optional(v.string()),
});
export type Holder = v.InferOutput<typeof holder>;

/** Reads the text of a lock file; null if it is not one. */
export function parseHolder(text: string): Holder | null {
  try {
    const parsed = v.safeParse(holder, JSON.parse(text));
    return parsed.success ? parsed.output : null;
  } catch {
    return null;
  }
}

/** Identity of this machine, and the state of its processes. */
export interface Machine extends Pick<Holder, 'pid' | 'boot' | 'host' | 'pid_space' | 'folder'> {
  look(pid: number): ProcessState;
}

/** The machine that this process runs on. */
export function thisMachine(): Machine {
  return {
    pid: process.pid,
    boot: readOrNull(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    host: hostname(),
    pid_space: readPidSpace(),
    folder: process.cwd(),
    look: lookUpProcess,
  };
}

/**
 * `running` and `gone` are certain; `elsewhere` is another machine, which cannot be checked; `unclear` is this machine
 * without enough information: there the heartbeat of the lock decides.
 */
export type HolderState = 'running' | 'gone' | 'unclear' | 'elsewhere';

export function judgeHolder(found: Holder, machine: Machine): HolderState {
  const sameBoot = found.boot !== null && found.boot === machine.boot;
  // Laptops change their name from network to network, so the boot id outweighs it.
  if (!sameBoot && found.host !== machine.host) return 'elsewhere';
  if (!sameBoot && found.boot !== null && machine.boot !== null) return 'gone';
  if (found.pid_space !== machine.pid_space) return 'unclear';
  const now = machine.look(found.pid);
  if (now.state === 'gone') return 'gone';
  if (now.started === null || found.started === null) return 'unclear';
  return now.started === found.started ? 'running' : 'gone';
}
