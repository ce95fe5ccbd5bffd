/** Reads a small body, with limits on size and time. */
import type { Clock } from '../clock.ts';
import type { Exchange } from './exchange.ts';
import { Refusal } from './refusal.ts';

/** The time for 12 MiB, the largest body, at 4 Mbit/s. */
const BODY_DEADLINE_MS = 30_000;

/** The caller disconnected or was too slow: no answer is needed. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone';
}

/**
 * Reads the body of a request.
 * @param limit largest accepted number of bytes
 * @throws Refusal CONTENT_TOO_LARGE above the limit; CallerGone if it is not complete within 30 s
 */
export function readBody(exchange: Exchange, limit: number, clock: Clock): Promise<Buffer> {
  const { request, response } = exchange;
  const tooLarge = () => new Refusal('CONTENT_TOO_LARGE', `the body is larger than ${limit} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge());
  if (request.headers.expect !== undefined) response.writeContinue();

  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const cancelDeadline = clock.schedule(BODY_DEADLINE_MS, () => request.destroy());
    const stop = () => {
      cancelDeadline();
      request.off('data', take).off('end', finish).off('close', giveUp).off('error', giveUp);
    };
    const take = (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) {
        chunks.push(chunk);
        return;
      }
      stop();
      request.resume();
      reject(tooLarge());
    };
    const finish = () => {
      stop();
      resolve(Buffer.concat(chunks, length));
    };
    const giveUp = () => {
      stop();
      reject(new CallerGone('the body is incomplete'));
    };
    request.on('data', take).on('end', finish).on('close', giveUp).on('error', giveUp);
  });
}

/** Returns true if a body with this Content-Encoding is sent as it is. Nothing is unpacked. */
export function isPlain(encoding: string | undefined): boolean {
  return (encoding ?? 'identity').trim().toLowerCase() === 'identity';
}
