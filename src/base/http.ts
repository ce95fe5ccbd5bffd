/** A request to whatever vloc calls, its answer, and how its body is read. `http-client.ts` sends it. */
import type { Readable } from 'node:stream';

interface HttpRequest {
  readonly origin: string;
  /** Path and query, sent as they are. */
  readonly target: string;
  readonly method: string;
  /** With `content-length`, if the body is not a Buffer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | AsyncIterable<Uint8Array> | Iterable<Uint8Array> | null;
  /** The only time limit of the whole request. */
  readonly signal?: AbortSignal | undefined;
  /** The longest time without a byte on the connection, in milliseconds. Default: that of the settings. */
  readonly idleMs?: number | undefined;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; repeated ones joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** To be read to its end, or left with `discard`. */
  readonly body: Readable;
  /** Drops what is left of the answer, or of the request, together with the connection. */
  discard(): void;
}

export interface Http {
  /** Rejects with the signal's reason, with what the body throws, or with a network error that has a `code`. */
  send(outgoing: HttpRequest): Promise<HttpResponse>;
  /** Aborts running requests and closes all connections. */
  close(): Promise<void>;
}

/** A body that is larger than the caller accepts. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
  readonly status: number;
  readonly headers: HttpResponse['headers'];

  constructor({ status, headers }: Pick<HttpResponse, 'status' | 'headers'>, limit: number) {
    super(`it is larger than ${limit / 1024 ** 2} MiB`);
    this.status = status;
    this.headers = headers;
  }
}

/** Reads a whole body; beyond the limit, in bytes, it drops the connection and throws BodyTooLarge. */
export async function collectBody(response: HttpResponse, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > limit) {
      response.discard();
      throw new BodyTooLarge(response, limit);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** The beginning of a body that only explains a refusal; never fails, since it describes another failure. */
export async function collectStart(response: HttpResponse, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= limit) break;
    }
  } catch {
    // Show what arrived before the connection broke.
  }
  response.discard();
  return Buffer.concat(chunks, size).subarray(0, limit);
}
