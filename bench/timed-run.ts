/** Runs a command and returns the kernel's measurements of it. */
import { spawnSync } from 'node:child_process';
import { CLEAN_ENV } from './measure.ts';

export interface TimedRun {
  readonly seconds: number;
  /** User and system time. */
  readonly cpuSeconds: number;
  /** Highest resident size of all threads. */
  readonly peakMiB: number;
}

/** Runs a command under GNU time. Throws if it fails. */
export function runTimed(command: readonly string[], env: NodeJS.ProcessEnv = {}): TimedRun {
  const { status, stdout, stderr } = spawnSync('/usr/bin/time', ['-f', '%e %U %S %M', ...command], {
    env: { ...CLEAN_ENV, ...env },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  const [seconds = 0, user = 0, system = 0, peakKiB = 0] = (stderr.trim().split('\n').at(-1) ?? '')
    .split(' ')
    .map(Number);
  return { seconds, cpuSeconds: user + system, peakMiB: peakKiB / 1024 };
}
