/** JSON from outside: read whole, but never so much or so deep that it harms. */

/** Largest answer, decoded. Source: design, "Transport". */
export const MAX_ANSWER_BYTES = 16 * 1024 ** 2;

/** Deeper than any resource by far; code that walks a value by recursion survives it. */
const MAX_DEPTH = 100;

/** Bytes that are not JSON as the client takes it; the message says why and quotes nothing. */
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
