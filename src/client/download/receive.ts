/** The body of a download on its way into the part. */

import type { TimeLimit } from '../transport/time-limit.ts';
import type { PartFile } from './part-file.ts';

/** Gathered while the last is written: four times as much is no faster and peaks higher. Source: performance figures. */
const BATCH_BYTES = 1024 ** 2;

/** A thousandth of the file: no bar shows a smaller step, and telling of each chunk takes a tenth of the time. */
const TOLD_SHARE = 1 / 1000;

/** Less than this in a whole idle time is a line that only pretends to live. */
const SIGN_OF_LIFE_BYTES = 16 * 1024;

export interface Receiving {
  readonly limit: TimeLimit;
  readonly idleMs: number;
  /** Beyond so many bytes in the part, something else is being sent; Infinity when it is not known. */
  readonly total: number;
  onBytes(inPart: number): void;
}

/** More bytes came than the file has. */
export class TooManyBytes extends Error {
  override readonly name = 'TooManyBytes';
}

/**
 * What arrived is in the part also when the line breaks, so that the next attempt goes on from there.
 * @throws the error of the line; Failure (`disk`); TooManyBytes
 */
export async function receiveBody(
  body: AsyncIterable<Buffer>,
  part: PartFile,
  { limit, idleMs, total, onBytes }: Receiving,
): Promise<void> {
  const batches = createBatches(part);
  const step = Number.isFinite(total) ? total * TOLD_SHARE : 0;
  let arrived = part.length;
  let told = arrived;
  let sinceSign = 0;
  try {
    for await (const chunk of body) {
      const { length } = chunk;
      arrived += length;
      if (arrived > total) throw new TooManyBytes('more bytes than the file has');
      await batches.add(chunk);
      release(chunk);
      sinceSign += length;
      if (sinceSign >= SIGN_OF_LIFE_BYTES) {
        limit.restart(idleMs);
        sinceSign = 0;
      }
      if (arrived - told >= step) {
        told = arrived;
        onBytes(arrived);
      }
    }
    if (told < arrived) onBytes(arrived);
  } finally {
    await batches.finish();
  }
}

/** Two buffers in turn: one is filled while the other is written. */
function createBatches(part: PartFile) {
  const buffers = [Buffer.allocUnsafeSlow(BATCH_BYTES), Buffer.allocUnsafeSlow(BATCH_BYTES)] as const;
  let filling: Buffer = buffers[0];
  let filled = 0;
  let writing: Promise<void> = Promise.resolve();
  const flush = async () => {
    const batch = filling.subarray(0, filled);
    filling = filling === buffers[0] ? buffers[1] : buffers[0];
    filled = 0;
    await writing;
    writing = part.append([batch]);
    // Its failure shows at the next flush; until then nobody is listening.
    writing.catch(() => {});
  };
  return {
    /** Copies the bytes; throws Failure (`disk`) when an earlier batch could not be written. */
    async add(chunk: Buffer): Promise<void> {
      for (let taken = 0; taken < chunk.length; ) {
        const count = chunk.copy(filling, filled, taken);
        taken += count;
        filled += count;
        if (filled === BATCH_BYTES) await flush();
      }
    },
    async finish(): Promise<void> {
      await flush();
      await writing;
    },
  };
}

/** Gives memory back at once: until the garbage is collected, a fast line fills 70 MiB with chunks that nobody needs. */
function release({ buffer, length }: Buffer): void {
  // What does not fill its memory shares it with somebody.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
}
