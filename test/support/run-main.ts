/** Runs of vloc in this process. */
import { join } from 'node:path';
import { main } from '../../src/cli/main.ts';
import { createTestIo, type TestIo, type TestIoOptions } from './test-io.ts';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Variables that keep settings and records in a folder of a test. */
export function foldersIn(folder: string) {
  return { VLOC_CONFIG_DIR: join(folder, 'config'), VLOC_STATE_DIR: join(folder, 'state') };
}

/** The variables of a run that finds programs, too. */
export function variablesIn(folder: string) {
  return { PATH: process.env.PATH ?? '', ...foldersIn(folder) };
}

/** The error that ends stderr of a run with `-o json`. */
export function errorOf({ stderr }: Pick<Ended, 'stderr'>): Record<string, unknown> {
  return JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error;
}

export interface Running extends TestIo {
  readonly ended: Promise<Ended>;
}

/** Starts a command line that the test looks at, or sends signals to. */
export function startMain(words: readonly string[], options: TestIoOptions = {}): Running {
  const test = createTestIo(options);
  const { stdout, stderr } = test;
  const ended = main(words, test.io).then((code) => ({ code, stdout: stdout(), stderr: stderr() }));
  return { ...test, ended };
}

/** Runs a command line to its end. */
export function runMain(words: readonly string[], options: TestIoOptions = {}): Promise<Ended> {
  return startMain(words, options).ended;
}
