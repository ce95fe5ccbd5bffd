/** One life of a service process, from its start to the kill. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Caller, type Credentials, createCaller } from '../service/harness/caller.ts';
import type { Orders, Word } from './orders.ts';

export interface Life {
  /** Resolves once the service listens; null when it died before. */
  readonly ready: Promise<Voice | null>;
  /** Resolves when the process is gone. */
  readonly ended: Promise<void>;
  /** True from the moment of the kill. */
  over(): boolean;
  /** Time of the service, ms since 1970. */
  now(): number;
  /** Moves the time of the service on. */
  advance(ms: number): Promise<void>;
  /** `kill -9`. */
  kill(): Promise<void>;
}

/** How to talk to a service that listens. */
export interface Voice {
  readonly origin: string;
  readonly pid: number;
  readonly credentials: Credentials;
  readonly caller: Caller;
}

export interface Surroundings {
  /** Replaces what is inherited: children of the service are known by what they inherit from it. */
  readonly env: Readonly<Record<string, string>>;
  /** Words in front of the command: `strace` with its options, or nothing. */
  readonly launcher?: readonly string[];
}

export function startLife(orders: Orders, { env, launcher = [] }: Surroundings): Life {
  const host = join(import.meta.dirname, 'host.ts');
  const words = [...launcher, process.execPath, host, JSON.stringify(orders)];
  const [command = process.execPath, ...args] = words;
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  let aheadMs = orders.aheadMs;
  let over = false;
  let pid = child.pid;
  const now = () => Date.now() + aheadMs;
  const ended = once(child, 'exit').then(() => {
    over = true;
  });
  // The channel breaks with the process; what matters then is its end.
  child.on('error', () => {});
  const ready = Promise.race([
    ended.then(() => null),
    once(child, 'message').then(([word]: Word[]): Voice | null => {
      if (word?.type !== 'ready') return null;
      pid = word.pid;
      const { url, credentials } = word;
      return { origin: new URL(url).origin, pid, credentials, caller: createCaller(url, credentials, now) };
    }),
  ]);
  return {
    ready,
    ended,
    over: () => over,
    now,
    async advance(ms) {
      const advanced = Promise.race([ended, once(child, 'message')]);
      child.send(ms);
      await advanced;
      aheadMs += ms;
    },
    async kill() {
      over = true;
      if (pid !== undefined && child.exitCode === null && child.signalCode === null) {
        process.kill(pid, 'SIGKILL');
      }
      await ended;
    },
  };
}
