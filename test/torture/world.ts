/** Everything that outlives the killed processes: folders, callers' book, receiver, time. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Book, openBook } from './book.ts';
import { type Life, startLife } from './life.ts';
import type { Orders } from './orders.ts';
import { createRandom, type Random } from './random.ts';
import { type Receiver, startReceiver } from './receiver.ts';

export interface World {
  /** This path in their environment distinguishes the children of the services from others. */
  readonly root: string;
  readonly stateDir: string;
  readonly random: Random;
  readonly book: Book;
  readonly receiver: Receiver;
  /** A video of 3 s with speech. */
  readonly clip: Buffer;
  /** Starts a process on the state folder; each one lives longer after the last than a lease. */
  start(orders?: Partial<Orders>, launcher?: readonly string[]): Life;
  /** Takes note of how far time has gone. */
  end(life: Life): void;
  close(): void;
}

/** One second beyond the longest lease of a process that died. */
const BETWEEN_LIVES_MS = 16_000;
/** Enough that callers are seldom refused, few enough that they are worked off soon. */
const OPEN_JOBS = 30;
/** Light work leaves the processor alone. */
const WORKERS = 4;

export interface WorldOptions {
  readonly seed: number;
  /** Folder of the state. Default: a folder of its own that is removed with the world. */
  readonly stateDir?: string;
}

export async function makeWorld({ seed, stateDir }: WorldOptions): Promise<World> {
  const root = mkdtempSync(join(tmpdir(), 'vloc-torture-'));
  const temporary = join(root, 'tmp');
  mkdirSync(temporary);
  const random = createRandom(seed);
  const receiver = await startReceiver(root, random);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? root,
    TMPDIR: temporary,
    NODE_EXTRA_CA_CERTS: receiver.certificate,
  };
  let aheadMs = 0;
  return {
    root,
    stateDir: stateDir ?? join(root, 'state'),
    random,
    book: openBook(),
    receiver,
    clip: cutClip(join(root, 'clip.mp4')),
    start(orders = {}, launcher = []) {
      const common = { engines: 'mixed', openJobs: OPEN_JOBS, workers: WORKERS, faults: 0 } as const;
      const place = { stateDir: stateDir ?? join(root, 'state'), aheadMs };
      const given = { ...common, ...place, seed: random.between(1, 2 ** 31), ...orders };
      return startLife(given, { env, launcher });
    },
    end(life) {
      aheadMs = Math.max(aheadMs, life.now() - Date.now()) + BETWEEN_LIVES_MS;
    },
    close() {
      receiver.close();
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** One sentence of the sample video, small. */
function cutClip(path: string): Buffer {
  const sample = join(import.meta.dirname, '../fixtures/sample.mp4');
  const cut = ['-ss', '9', '-i', sample, '-t', '3', '-vf', 'scale=160:90', '-c:v', 'libx264', '-c:a', 'aac'];
  execFileSync('ffmpeg', ['-v', 'error', ...cut, path]);
  return readFileSync(path);
}
