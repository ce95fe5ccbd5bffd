import { createHash } from 'node:crypto';
import { readChunks } from './file-chunks.ts';
import type { SourceFile } from './source-file.ts';

/**
 * Reads the whole file for its hash, lower-case hex.
 * @throws Failure (FILE_CHANGED); the reason of the signal
 */
export async function hashFile(
  source: SourceFile,
  algorithm: 'sha256' | 'md5',
  signal: AbortSignal | undefined,
): Promise<string> {
  const hash = createHash(algorithm);
  for await (const chunk of readChunks(source)) {
    signal?.throwIfAborted();
    hash.update(chunk);
  }
  return hash.digest('hex');
}
