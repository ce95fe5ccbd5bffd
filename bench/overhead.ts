/** The cost of the service, the upload and the download, in addition to the engines. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';
import { medianRatio, runProcess } from './measure.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const VIDEO = here('../test/fixtures/sample.mp4');
const ROUNDS = 5;

export async function measureOverhead(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  const seconds = async (command: readonly string[]) => {
    const run = await runProcess(command, {
      VLOC_STATE_DIR: join(folder, 'state'),
      // Each round does all the work again.
      VLOC_STAGE_CACHE_MIB: '0',
    });
    if (run.code !== 0) throw new Error(`${command.join(' ')} ended with ${run.code}:\n${run.output}`);
    return run.seconds;
  };
  const { execPath } = process;
  try {
    const value = await medianRatio(
      ROUNDS,
      () =>
        seconds([
          execPath,
          here('../bin/vloc.js'),
          'localize',
          VIDEO,
          '--from',
          'en',
          '--to',
          'es',
          '--out',
          folder,
          '--clobber',
        ]),
      () => seconds([execPath, here('bare-engines.ts'), VIDEO]),
    );
    return [
      {
        name: '`vloc localize` of the sample, wall ÷ the engines alone',
        value,
        limit: { atMost: 1.15 },
        unit: '×',
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
