/** CPU time of commands that do no work, over that of `node -e 0`. */
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';
import { cpuSeconds, medianRatio } from './measure.ts';

const VLOC = fileURLToPath(new URL('../bin/vloc.js', import.meta.url));
/** Runs in one sample: a single start of 40 ms is too near the clock's grain of 1 ms. */
const RUNS = 5;
const ROUNDS = 9;

export async function measureStartup(): Promise<readonly Figure[]> {
  const node = process.execPath;
  const base = () => cpuSeconds([node, '-e', '0'], RUNS);
  const ratioOf = (...args: string[]) =>
    medianRatio(ROUNDS, () => cpuSeconds([node, VLOC, ...args], RUNS), base);
  return [
    {
      name: '`vloc --version`, CPU ÷ `node -e 0`',
      value: await ratioOf('--version'),
      limit: { atMost: 1.7 },
      unit: '×',
    },
    {
      name: '`vloc --help`, CPU ÷ `node -e 0`',
      value: await ratioOf('--help'),
      limit: { atMost: 1.9 },
      unit: '×',
    },
  ];
}
