/** Clock, timers, randomness and free disk space, passed in so that tests can replace them. */
import { randomBytes, randomUUID } from 'node:crypto';

export interface Runtime {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Rejects as soon as the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `expire` after `ms` milliseconds, unless the returned function is called before. */
  timer(ms: number, expire: () => void): () => void;
  /** Uniform in [0, 1). */
  random(): number;
  /** Single-use value of a signed request: base64url, 16 to 128 characters. */
  nonce(): string;
  /** A fresh key for one business intent. */
  idempotencyKey(): string;
  /** Free bytes below a folder; null when the system does not report them. */
  freeBytes(folder: string): Promise<number | null>;
}

/** The longest delay that `setTimeout` takes; a larger one fires immediately. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** 128 bits, the least that the contract allows: a collision under one key within ten minutes cannot happen. */
const NONCE_BYTES = 16;

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  // Loaded here: most calls wait for nothing.
  const { setTimeout: delay } = await import('node:timers/promises');
  const options = signal === undefined ? {} : { signal };
  for (let left = ms; left > 0; left -= LONGEST_TIMER_MS) {
    await delay(Math.min(left, LONGEST_TIMER_MS), undefined, options);
  }
}

function timer(ms: number, expire: () => void): () => void {
  const running = setTimeout(expire, ms);
  return () => clearTimeout(running);
}

/** The system: its clock, timers, cryptographic randomness and disks. */
export const SYSTEM_RUNTIME: Runtime = {
  now: () => Date.now(),
  sleep,
  timer,
  random: () => Math.random(),
  nonce: () => randomBytes(NONCE_BYTES).toString('base64url'),
  idempotencyKey: () => randomUUID(),
  freeBytes: async (folder) => (await import('../base/folder.ts')).freeBytes(folder),
};
