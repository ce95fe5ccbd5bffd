/** Bodies of answers: read up to a limit, parsed as JSON, or shown to people. */
import type { HttpResponse } from './http.ts';

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

/** The beginning of a body that is only shown to users; never fails, since it describes another failure. */
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

/** Largest answer, decoded. Source: design, "Transport". */
export const MAX_ANSWER_BYTES = 16 * 1024 ** 2;

/** Deeper than any resource by far; code that walks a value by recursion survives it. */
const MAX_DEPTH = 100;

/** Bytes that are not JSON as the client accepts it; the message says why and quotes nothing. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
}

/**
 * Parses UTF-8 JSON.
 * @throws JsonError when it is empty, malformed, not UTF-8, or nested more than 100 deep
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new JsonError('it is empty');
  if (isDeeperThan(bytes, MAX_DEPTH)) throw new JsonError(`it is nested more than ${MAX_DEPTH} deep`);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new JsonError('it is cut off or malformed JSON', { cause: error });
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

function isDeeperThan(bytes: Buffer, limit: number): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (quoted && byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) quoted = !quoted;
    else if (!quoted && OPENING.has(byte)) depth += 1;
    else if (!quoted && CLOSING.has(byte)) depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}

/** Enough for the title of an error page. */
const READ_BYTES = 2048;
const SHOWN_CHARACTERS = 120;

/** The first words of a page that is not JSON, without tags and control characters; empty when it has none. */
export function firstLine(bytes: Buffer): string {
  const page = bytes.subarray(0, READ_BYTES).toString('utf8');
  const words = page
    .replace(/<(?:style|script)[^>]*>[^<]*/gi, ' ')
    .replace(/<[^>]*>/g, '\n')
    .replace(/[^\P{C}\n]/gu, '');
  const line = words.split('\n').find((each) => each.trim() !== '') ?? '';
  return line.trim().slice(0, SHOWN_CHARACTERS);
}
