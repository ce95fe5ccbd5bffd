/** CPU time from spawn until the service listens on a new state folder, relative to `node -e 0`. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure } from './figure.ts';
import { CLEAN_ENV, cpuSeconds, median, quantile } from './measure.ts';

const SERVICE = new URL('../dist/service.js', import.meta.url).href;
/** Runs per sample: a single start is too short for the shell's clock, which counts in 1 ms. */
const RUNS = 5;
const ROUNDS = 9;
/**
 * Node with its parts for HTTP, hashes and SQLite, a new database file and a listening socket takes 2.4 × by itself, measured with
 * a script of four lines. The rest is the code of the service.
 */
const MOST = 3;

/** Prints the CPU seconds that the process has used so far, measured by the process itself. */
const LISTENING = `
  const { createService } = await import(${JSON.stringify(SERVICE)});
  const service = await createService({ stateDir: process.argv[1] });
  const { user, system } = process.cpuUsage();
  console.log((user + system) / 1e6);
  await service.close();`;

export async function measureColdStart(isShort: boolean): Promise<readonly Figure[]> {
  const base = () => cpuSeconds([process.execPath, '-e', '0'], RUNS);
  const listening = () => {
    let sum = 0;
    for (let run = 0; run < RUNS; run += 1) sum += secondsToListen();
    return sum;
  };
  listening();
  const ratios = Array.from({ length: isShort ? 1 : ROUNDS }, () => listening() / base());
  return [
    {
      name: 'service from spawn to listening on a new state folder, CPU ÷ `node -e 0`',
      value: median(ratios),
      unit: '×',
      limit: { atMost: MOST },
      // It contains a start of Node.
      plausible: [0.8, 100],
      spread: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
    },
  ];
}

function secondsToListen(): number {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  try {
    const args = ['--input-type=module', '-e', LISTENING, join(folder, 'state')];
    return Number(execFileSync(process.execPath, args, { encoding: 'utf8', env: CLEAN_ENV }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
