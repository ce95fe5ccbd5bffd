/** vloc with --watch in a test, which says when the folder is looked at; the clock moves on with each look. */
import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { type Running, startMain } from '../../support/run-main.ts';
import type { TestIoOptions } from '../../support/test-io.ts';
import { QUICK, type VlocScene } from './run-vloc.ts';

export interface Watch extends Running {
  /** Lets the time until the next look pass; resolves when the folder was looked at. */
  look(): Promise<void>;
  /** From now on looks follow each other by themselves. */
  goOn(): void;
  /** How often a folder was looked at. */
  readonly looks: () => number;
  /** Ctrl-C. */
  stop(): Running['ended'];
}

/** Long enough that others get their turn between two looks. */
const TURN_MS = 20;

export async function startWatch(
  vloc: Pick<VlocScene, 'folder' | 'env'>,
  words: readonly string[],
  options: Pick<TestIoOptions, 'pace'> = {},
): Promise<Watch> {
  let looks = 0;
  let passedMs = 0;
  let isFree = false;
  let pass = () => {};
  let arrive = () => {};
  const nextWait = () =>
    new Promise<void>((resolve) => {
      arrive = resolve;
    });
  const openWatch = () => ({
    async changed(ms: number, signal?: AbortSignal) {
      looks += 1;
      arrive();
      if (isFree) await delay(TURN_MS, undefined, { signal });
      else {
        await new Promise<void>((resolve, reject) => {
          pass = resolve;
          signal?.addEventListener('abort', () => reject(signal.reason));
          if (signal?.aborted) reject(signal.reason);
        });
      }
      passedMs += ms;
    },
    close: () => undefined,
  });
  const now = () => Date.now() + passedMs;
  const first = nextWait();
  const running = startMain(words, {
    pace: QUICK,
    ...options,
    cwd: vloc.folder,
    env: vloc.env,
    now,
    openWatch,
  });
  onTestFinished(async () => {
    running.send('SIGTERM');
    await running.ended;
  });
  await Promise.race([first, running.ended]);
  return {
    ...running,
    looks: () => looks,
    async look() {
      const next = nextWait();
      pass();
      await next;
    },
    goOn() {
      isFree = true;
      pass();
    },
    stop() {
      running.send('SIGINT');
      return running.ended;
    },
  };
}
