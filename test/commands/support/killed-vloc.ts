/** Runs of vloc in processes of their own that a signal ends at a request, for every service and every way of running. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Faults } from '../../../src/service/index.ts';

const SCRIPT = join(import.meta.dirname, 'vloc-process.ts');

/** Before the service does what is asked, or when it is done and not answered. */
export type Moment = 'arrival' | 'answer';

export type Signal = 'SIGKILL' | 'SIGINT';

export interface KillPoint {
  readonly at: Moment;
  readonly isMeant: (method: string, url: string) => boolean;
  /** Which of these requests; default: the first. */
  readonly time?: number;
  readonly signal?: Signal;
}

export interface Killer {
  /** The process; none is ended before it is known. */
  child: ChildProcess | null;
  /** Is told of each request. @returns whether the process is gone, so that nobody waits for the answer */
  readonly meet: (at: Moment, method: string, url: string) => Promise<boolean>;
  /** The same for an embedded service. */
  readonly faults: Faults;
}

export function createKiller({ at: meant, isMeant, time = 1, signal = 'SIGKILL' }: KillPoint): Killer {
  let seen = 0;
  const meet: Killer['meet'] = async (at, method, url) => {
    const { child } = killer;
    if (child === null || at !== meant || !isMeant(method, url)) return false;
    seen += 1;
    if (seen !== time) return false;
    const gone = once(child, 'exit');
    child.kill(signal);
    // Who is asked to stop may still get an answer.
    if (signal !== 'SIGKILL') return false;
    await gone;
    return true;
  };
  const killer: Killer = {
    ...{ child: null, meet },
    faults: {
      before: async ({ method, target }) => ((await meet('arrival', method, target)) ? 'drop' : null),
      after: async ({ method, target }, answer) => ((await meet('answer', method, target)) ? 'drop' : answer),
    },
  };
  return killer;
}

export interface Surroundings {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdio?: StdioOptions;
}

/** Starts vloc; it ends with the test. */
export function spawnVloc(
  words: readonly string[],
  { folder, env, stdio = 'ignore' }: Surroundings,
): ChildProcess {
  return endWithTest(spawn(process.execPath, [SCRIPT, ...words], { cwd: folder, env, stdio }));
}

export function endWithTest(child: ChildProcess): ChildProcess {
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Waits for the end of a process that is killed. */
export async function expectKilled(child: ChildProcess): Promise<void> {
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
}
