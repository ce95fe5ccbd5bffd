/** CPU time of commands that do little work, relative to `node -e 0`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';
import { cpuSeconds, medianRatio } from './measure.ts';

const VLOC = fileURLToPath(new URL('../bin/vloc.js', import.meta.url));
/** Runs per sample: a single start of 40 ms is too short for a clock that counts in 1 ms. */
const RUNS = 5;
/** The ratios of single rounds vary by a tenth, the median of this many by a thirtieth. */
const ROUNDS = 15;
const SHORT_ROUNDS = 1;

interface Start {
  readonly args: readonly string[];
  /** CPU time relative to bare Node. */
  readonly atMost: number;
}

const STARTS: readonly Start[] = [
  { args: ['--version'], atMost: 1.5 },
  { args: ['--help'], atMost: 2.1 },
  // A user waits for these each time they press Tab.
  { args: ['completion', 'complete', '--', 'localize', '--s'], atMost: 1.8 },
  { args: ['completion', 'complete', '--', 'profile', 'use', ''], atMost: 1.8 },
  { args: ['completion', 'complete', '--', 'jobs', 'wait', ''], atMost: 1.8 },
  // One signed request: the minimum for every command that calls a service.
  { args: ['credits'], atMost: 3.5 },
];

export async function measureStartup(isShort: boolean): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  // In a separate process: its CPU time must not count, and the measurement blocks this process.
  const server = spawn(
    process.execPath,
    [VLOC, 'serve', '-o', 'json', '--state-dir', join(folder, 'service')],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  try {
    const [line] = await once(createInterface({ input: server.stdout }), 'line');
    const announced: { base_url: string; key: string; secret: string } = JSON.parse(line);
    const env = {
      VLOC_BASE_URL: announced.base_url,
      VLOC_KEY: announced.key,
      VLOC_SECRET: announced.secret,
      VLOC_CONFIG_DIR: join(folder, 'config'),
      VLOC_STATE_DIR: join(folder, 'state'),
    };
    const figures: Figure[] = [];
    for (const { args, atMost } of STARTS) {
      const value = await medianRatio(
        isShort ? SHORT_ROUNDS : ROUNDS,
        () => cpuSeconds([process.execPath, VLOC, ...args], RUNS, env),
        () => cpuSeconds([process.execPath, '-e', '0'], RUNS),
      );
      figures.push({
        name: `\`vloc ${args.join(' ')}\`, CPU ÷ \`node -e 0\``,
        value,
        limit: { atMost },
        unit: '×',
        // A start of vloc contains a start of Node; the clock counts in ms, and single rounds differ.
        plausible: [0.7, 100],
      });
    }
    return figures;
  } finally {
    server.kill();
    await once(server, 'exit');
    rmSync(folder, { recursive: true });
  }
}
