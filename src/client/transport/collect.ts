import type { HttpResponse } from './http.ts';

/** A body that is larger than the caller takes. */
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

/** Reads a body whole, up to so many bytes; beyond them the connection is dropped and BodyTooLarge thrown. */
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

/** The beginning of a body that is only shown to people; never fails, since it comes on top of another failure. */
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
    // What arrived before the line broke is as good.
  }
  response.discard();
  return Buffer.concat(chunks, size).subarray(0, limit);
}
