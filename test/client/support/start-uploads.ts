import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClientOptions, SendFileOptions } from '../../../src/client/index.ts';
import { makeFolder, startHarness } from './harness.ts';
import { serveUploads } from './stored-upload.ts';

export const VIDEO: SendFileOptions = { purpose: 'source_video', contentType: 'video/mp4' };
export const MIB = 1024 ** 2;

export async function makeFile(size: number): Promise<{ path: string; bytes: Buffer; sha256: string }> {
  const bytes = randomBytes(size);
  const path = join(await makeFolder(), 'lesson 1.mp4');
  await writeFile(path, bytes);
  return { path, bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}

export async function startUploads(options: Partial<ClientOptions> = {}) {
  const harness = await startHarness(options);
  return { ...harness, service: serveUploads(harness.server) };
}
