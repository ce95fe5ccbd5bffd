/** The body of a download on its way into the part. */

import type { TimeLimit } from '../transport/time-limit.ts';
import type { PartFile } from './part-file.ts';

/** Written at a time, while the next arrives: four times as much is no faster and peaks 10 MiB higher. */
const BATCH_BYTES = 1024 ** 2;

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
  let batch: Buffer[] = [];
  let batched = 0;
  let arrived = part.length;
  let sinceSign = 0;
  let writing: Promise<void> = Promise.resolve();
  const flush = async () => {
    const chunks = batch;
    batch = [];
    batched = 0;
    await writing;
    writing = part.append(chunks);
    // Its failure shows at the next flush; until then nobody is listening.
    writing.catch(() => {});
  };
  try {
    for await (const chunk of body) {
      arrived += chunk.length;
      if (arrived > total) throw new TooManyBytes('more bytes than the file has');
      batch.push(chunk);
      batched += chunk.length;
      sinceSign += chunk.length;
      if (sinceSign >= SIGN_OF_LIFE_BYTES) {
        limit.restart(idleMs);
        sinceSign = 0;
      }
      if (batched >= BATCH_BYTES) await flush();
      onBytes(arrived);
    }
  } finally {
    await flush();
    await writing;
  }
}
