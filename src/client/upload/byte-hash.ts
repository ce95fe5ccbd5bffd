/** The SHA-256 of bytes on their way, counted beside the sending of them. Source: performance figures, "Transfer". */
import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { HashAnswer, HashOrder } from './hash-worker.ts';

export interface ByteHash {
  /** Memory whose bytes it can read while others read them too. */
  allocate(bytes: number): Buffer;
  /** Takes the next bytes; until it resolves they must not change. Never rejects. */
  update(bytes: Buffer): Promise<void>;
  /** Lower-case hex; null when the thread was lost on the way: read the file once more. */
  digest(): Promise<string | null>;
  close(): Promise<void>;
}

/** Below this a thread takes longer to start (50 ms) than hashing here takes. */
const WORTH_A_THREAD_BYTES = 32 * 1024 ** 2;

/** @param startThread replaced to see what happens where there are no threads */
export function createByteHash(size: number, startThread: () => Worker = startHashThread): ByteHash {
  if (size < WORTH_A_THREAD_BYTES) return createInlineHash();
  try {
    return createThreadHash(startThread());
  } catch {
    // No memory or no permission for a thread: slower, and right as well.
    return createInlineHash();
  }
}

/** The worker is beside this file in the source tree, and beside the bundle under the same name. */
function startHashThread(): Worker {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  // It needs nothing of what this process was started with.
  return new Worker(new URL(`./hash-worker.${ending}`, import.meta.url), { env: {}, execArgv: [] });
}

function createInlineHash(): ByteHash {
  const hash = createHash('sha256');
  return {
    allocate: (bytes) => Buffer.allocUnsafeSlow(bytes),
    async update(bytes) {
      hash.update(bytes);
    },
    digest: async () => hash.digest('hex'),
    close: async () => {},
  };
}

function createThreadHash(thread: Worker): ByteHash {
  const waiting: (() => void)[] = [];
  let lost = false;
  let sha256: string | null = null;
  const order = (message: HashOrder) =>
    new Promise<void>((resolve) => {
      if (lost) return resolve();
      waiting.push(resolve);
      thread.postMessage(message);
    });
  const lose = () => {
    lost = true;
    for (const resolve of waiting.splice(0)) resolve();
  };
  thread.on('message', (answer: HashAnswer) => {
    if (answer.type === 'digest') sha256 = answer.sha256;
    waiting.shift()?.();
  });
  thread.on('error', lose).on('exit', lose);
  return {
    allocate: (bytes) => Buffer.from(new SharedArrayBuffer(bytes)),
    update: (bytes) => order({ type: 'update', bytes }),
    async digest() {
      await order({ type: 'finish' });
      return sha256;
    },
    async close() {
      await thread.terminate();
    },
  };
}
