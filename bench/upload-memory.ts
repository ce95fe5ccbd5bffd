/** Memory of the command while it uploads a large file. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';
import { runProcess } from './measure.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const BYTES = 512 * 1024 ** 2;

export async function measureUploadMemory(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  const file = join(folder, 'large.mp4');
  // The command checks the first bytes: an MP4 begins with the box `ftyp`.
  writeFileSync(file, '\0\0\0\x18ftypisom');
  truncateSync(file, BYTES);
  const server = fork(here('transfer-server.ts'));
  try {
    const [{ api }] = await once(server, 'message');
    const command = [
      process.execPath,
      here('../bin/vloc.js'),
      'localize',
      file,
      '--to',
      'es',
      '--detach',
      '--output',
      'id',
    ];
    const run = await runProcess(command, {
      VLOC_BASE_URL: `http://127.0.0.1:${api}/v1`,
      VLOC_KEY: 'vk_bench',
      VLOC_SECRET: 'only for this run',
    });
    if (run.code !== 0) throw new Error(`the upload ended with ${run.code}:\n${run.output}`);
    return [
      {
        name: 'peak memory of `vloc` while 512 MiB are uploaded',
        value: run.peakMiB,
        limit: { atMost: 150 },
        unit: 'MiB',
      },
    ];
  } finally {
    server.disconnect();
    rmSync(folder, { recursive: true });
  }
}
