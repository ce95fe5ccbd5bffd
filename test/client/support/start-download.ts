import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Asset } from '../../../src/client/index.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { startHarness } from './harness.ts';
import { serveBytes } from './stored-bytes.ts';

export const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** A file at a server that knows Range, and an empty folder to fetch it into. */
export async function startDownload(size = 300_000, options: Parameters<typeof startHarness>[0] = {}) {
  const bytes = randomBytes(size);
  const harness = await startHarness({ ...options, fallback: serveBytes(bytes, '"v1"') });
  const folder = makeFolder();
  const asset: Asset = {
    url: `${harness.server.origin}/files/video.mp4?signature=canary`,
    expires_at: null,
    content_type: 'video/mp4',
    size_bytes: size,
    sha256: sha256(bytes),
  };
  return {
    ...harness,
    bytes,
    asset,
    folder,
    to: join(folder, 'video.mp4'),
    part: join(folder, '.video.mp4.part'),
  };
}
