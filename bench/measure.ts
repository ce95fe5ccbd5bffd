/**
 * Measures whole processes. Only ratios within one run are meaningful: speed differs between machines, and changes from
 * minute to minute.
 */
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** NODE_EXTRA_CA_CERTS makes bare Node start several times slower and would make every ratio look better. */
const { NODE_EXTRA_CA_CERTS: _certificates, CI: _ci, ...cleanEnv } = process.env;
export const CLEAN_ENV = cleanEnv;

/**
 * Returns the user and system CPU seconds of `times` runs of a command, measured by the shell.
 * @throws Error if a run fails: a command that ends with an error does less than what is measured
 */
export function cpuSeconds(command: readonly string[], times: number, env: NodeJS.ProcessEnv = {}): number {
  const script = `TIMEFORMAT='%3U %3S'; time for _ in $(seq ${times}); do "$@" >/dev/null 2>&1 || exit 1; done`;
  const printed = execFileSync('bash', ['-c', `{ ${script}; } 2>&1`, 'bash', ...command], {
    encoding: 'utf8',
    env: { ...CLEAN_ENV, ...env },
  });
  return printed
    .trim()
    .split(' ')
    .reduce((sum, seconds) => sum + Number(seconds), 0);
}

/** Returns the median. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Returns the smallest value that this share of the values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
}

/**
 * Returns the median of the ratios of pairs measured alternately, so that changes in the machine's speed affect both
 * equally.
 */
export async function medianRatio(
  rounds: number,
  measured: () => number | Promise<number>,
  base: () => number | Promise<number>,
): Promise<number> {
  await measured();
  await base();
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) ratios.push((await measured()) / (await base()));
  return median(ratios);
}

export interface ProcessRun {
  readonly code: number | null;
  readonly seconds: number;
  /** Highest resident size of the process, in MiB, without its children. */
  readonly peakMiB: number;
  readonly output: string;
}

/** Short enough to read the maximum shortly before the process ends. The kernel keeps the highest value. */
const POLL_MS = 20;

/** Runs a command and reads the kernel's peak value of its memory (Linux). */
export function runProcess(command: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<ProcessRun> {
  const [file = '', ...args] = command;
  const begin = performance.now();
  const child = spawn(file, args, { env: { ...CLEAN_ENV, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  let peakMiB = 0;
  const timer = setInterval(() => {
    peakMiB = Math.max(peakMiB, residentPeak(child.pid));
  }, POLL_MS);
  return new Promise((resolve) => {
    child.on('close', (code) => {
      clearInterval(timer);
      const seconds = (performance.now() - begin) / 1000;
      resolve({ code, seconds, peakMiB, output: Buffer.concat(chunks).toString('utf8') });
    });
  });
}

function residentPeak(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0; // the process has just ended
  }
}
