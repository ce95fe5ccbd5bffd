/** The SHA-256 of whole files. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** Reads of 1 MiB, so that hashing a large video needs few calls. */
const READ_BYTES = 1024 ** 2;

/** Returns the SHA-256 of a file in hex. @throws the error of the file system */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: READ_BYTES }), hash);
  return hash.digest('hex');
}
