/** CPU time of commands that do little work, over that of `node -e 0`. */
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
/** Runs in one sample: a single start of 40 ms is too near the clock's grain of 1 ms. */
const RUNS = 5;
/** The ratios of single rounds lie a tenth apart; the median of so many, a fiftieth. */
const ROUNDS = 31;

interface Start {
  readonly args: readonly string[];
  /** CPU time over that of bare Node. */
  readonly atMost: number;
}

const STARTS: readonly Start[] = [
  { args: ['--version'], atMost: 1.45 },
  { args: ['--help'], atMost: 1.8 },
  // A person waits for it at every press of Tab.
  { args: ['completion', 'values', 'profiles'], atMost: 1.8 },
  // One signed request: what every command that talks to a service pays at least.
  { args: ['credits'], atMost: 2.5 },
];

export async function measureStartup(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  // In a process of its own: its CPU time does not count, and the measuring blocks this one.
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
        ROUNDS,
        () => cpuSeconds([process.execPath, VLOC, ...args], RUNS, env),
        () => cpuSeconds([process.execPath, '-e', '0'], RUNS),
      );
      figures.push({
        name: `\`vloc ${args.join(' ')}\`, CPU ÷ \`node -e 0\``,
        value,
        limit: { atMost },
        unit: '×',
      });
    }
    return figures;
  } finally {
    server.kill();
    await once(server, 'exit');
    rmSync(folder, { recursive: true });
  }
}
