/** A command line behind a faulty proxy, with a clock that it shares with the service. */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { MovableClock } from '../../../src/service/control/clock.ts';
import type { Caller } from '../../service/harness/caller.ts';
import type { SmallEngines } from '../../service/harness/small-engines.ts';
import type { Certificate } from '../../support/certificates.ts';
import { type Ended, foldersIn, runMain } from '../../support/run-main.ts';
import type { FaultyProxy } from './faulty-proxy.ts';

export interface ScenarioOptions {
  readonly proxy: FaultyProxy;
  readonly baseUrl: string;
  readonly folder: string;
  readonly key: string;
  readonly secret: string;
  /** Calls the service without the proxy. */
  readonly caller: Caller;
  readonly clock: MovableClock;
  readonly engines: SmallEngines;
  readonly certificates: { readonly own: Certificate; readonly other: Certificate };
}

/** Everything that one combination of fault and step needs. */
export interface Scenario extends ScenarioOptions {
  /** Error of the clock of the command, in milliseconds. */
  clockSkewMs: number;
  /** Milliseconds of every wait; only the clock advances. */
  readonly slept: number[];
  /** Called at every wait, before the clock advances. */
  onSleep: () => Promise<void>;
  /** Makes every pending wait for a response time out; nothing else does, however busy the machine is. */
  expireTimeouts(): void;
  /** Runs vloc in a folder with `talk.mp4` and `talk.srt`. */
  run(words: readonly string[]): Promise<Ended>;
}

/** The only real timeout, never reached: even a busy machine connects to itself within this time. */
const CONNECT_MS = 60_000;

/** Real duration of a wait, in which the service can work. */
const TURN_MS = 2;

/** The start of an MP4, enough for these tests. */
export const MP4 = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), Buffer.alloc(1000)]);
const SRT = '1\n00:00:01,000 --> 00:00:02,000\nHello\n';

/** Prepares the folder. */
export async function createScenario(options: ScenarioOptions): Promise<Scenario> {
  const { folder, clock } = options;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'talk.mp4'), MP4);
  await writeFile(join(folder, 'talk.srt'), SRT);
  const env = {
    VLOC_BASE_URL: options.baseUrl,
    VLOC_KEY: options.key,
    VLOC_SECRET: options.secret,
    ...foldersIn(folder),
  };
  const now = () => clock.now() + scenario.clockSkewMs;
  const waits = new Set<() => void>();
  const runtime = {
    now,
    timer(_ms: number, expire: () => void) {
      waits.add(expire);
      return () => void waits.delete(expire);
    },
    random: () => 0.5,
    async sleep(ms: number, signal?: AbortSignal) {
      signal?.throwIfAborted();
      scenario.slept.push(ms);
      await scenario.onSleep();
      // The service counts whole milliseconds.
      clock.advance(Math.ceil(ms));
      await delay(TURN_MS);
    },
  };
  const scenario: Scenario = {
    ...options,
    clockSkewMs: 0,
    slept: [],
    onSleep: async () => {},
    expireTimeouts() {
      for (const expire of [...waits]) expire();
    },
    run: (words) =>
      runMain(words, { cwd: folder, env, now, pace: { runtime, timeouts: { connectMs: CONNECT_MS } } }),
  };
  return scenario;
}
