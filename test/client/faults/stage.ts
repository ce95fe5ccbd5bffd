/** The command line at one end of a line that goes wrong, with a clock that it shares with the service. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { main } from '../../../src/cli/main.ts';
import type { Caller } from '../../service/harness/caller.ts';
import type { MovingClock } from '../../service/harness/moving-clock.ts';
import type { SmallEngines } from '../../service/harness/small-engines.ts';
import { createTestIo } from '../../support/test-io.ts';
import type { Certificate } from './certificates.ts';
import type { Line } from './line.ts';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a cell is given. */
export interface Props {
  readonly line: Line;
  readonly baseUrl: string;
  readonly folder: string;
  readonly key: string;
  readonly secret: string;
  /** Asks the service past the line. */
  readonly caller: Caller;
  readonly clock: MovingClock;
  readonly engines: SmallEngines;
  readonly certificates: { readonly own: Certificate; readonly other: Certificate };
}

/** One cell's worth. */
export interface Stage extends Props {
  /** How wrong the clock of the command is. */
  clockOffMs: number;
  /** Milliseconds of every wait; none of them really passed. */
  readonly slept: number[];
  /** Awaited at every wait, before its time is over. */
  atSleep: () => Promise<void>;
  /** Ends every wait for an answer as too long; on a busy machine no other one ever is. */
  timeIsUp(): void;
  /** Runs vloc in a folder with `talk.mp4` and `talk.srt`. */
  run(words: readonly string[]): Promise<Ended>;
}

/** The one time that is really waited for, and never over: a busy machine of two cores still connects to itself. */
const CONNECT_MS = 60_000;

/** What a wait really takes: the service gets a turn. */
const TURN_MS = 2;

/** The beginning of an MP4, as far as anybody looks at it here. */
export const MP4 = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), Buffer.alloc(1000)]);
const SRT = '1\n00:00:01,000 --> 00:00:02,000\nHello\n';

/** Prepares the folder. */
export async function createStage(props: Props): Promise<Stage> {
  const { folder, clock } = props;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'talk.mp4'), MP4);
  await writeFile(join(folder, 'talk.srt'), SRT);
  const env = {
    VLOC_BASE_URL: props.baseUrl,
    VLOC_KEY: props.key,
    VLOC_SECRET: props.secret,
    VLOC_CONFIG_DIR: join(folder, 'config'),
    VLOC_STATE_DIR: join(folder, 'state'),
  };
  const now = () => clock.now() + stage.clockOffMs;
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
      stage.slept.push(ms);
      await stage.atSleep();
      // The service counts whole milliseconds.
      clock.advance(Math.ceil(ms));
      await delay(TURN_MS);
    },
  };
  const stage: Stage = {
    ...props,
    clockOffMs: 0,
    slept: [],
    atSleep: async () => {},
    timeIsUp() {
      for (const expire of [...waits]) expire();
    },
    async run(words) {
      const test = createTestIo({
        cwd: folder,
        env,
        now,
        pace: { runtime, timeouts: { connectMs: CONNECT_MS } },
      });
      const code = await main(words, test.io);
      return { code, stdout: test.stdout(), stderr: test.stderr() };
    },
  };
  return stage;
}
