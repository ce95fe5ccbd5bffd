import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/**
 * Whether there is a regular file with these bytes.
 * @param expected size in bytes, SHA-256 in lower-case hex
 */
export async function isSameFile(
  path: string,
  expected: { readonly bytes: number; readonly sha256: string },
): Promise<boolean> {
  try {
    const found = await lstat(path);
    if (!found.isFile() || found.size !== expected.bytes) return false;
    const hash = createHash('sha256');
    await pipeline(createReadStream(path), hash);
    return hash.digest('hex') === expected.sha256;
  } catch {
    // Gone or not readable: then it is none that can be relied on.
    return false;
  }
}
