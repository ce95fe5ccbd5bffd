import { type Runtime, SYSTEM_RUNTIME } from '../../../src/client/runtime.ts';

export interface FakeRuntime extends Runtime {
  /** Milliseconds of every sleep, in order; none of them really passed. */
  readonly slept: number[];
  /** Moves the clock. */
  advance(ms: number): void;
}

/** A clock that moves only by sleeping, or by a call. Nonces and keys are counted. */
export function createFakeRuntime(start = Date.now(), random: () => number = () => 0.5): FakeRuntime {
  let now = start;
  let nonces = 0;
  let keys = 0;
  const slept: number[] = [];
  return {
    slept,
    advance(ms) {
      now += ms;
    },
    now: () => now,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      slept.push(ms);
      now += ms;
    },
    random,
    timer: SYSTEM_RUNTIME.timer,
    freeBytes: async () => null,
    nonce() {
      nonces += 1;
      return `nonce-${String(nonces).padStart(16, '0')}`;
    },
    idempotencyKey() {
      keys += 1;
      return `key-${keys}`;
    },
  };
}
