/** Runs of vloc in this process. */
import { join } from 'node:path';
import { main } from '../../src/cli/main.ts';
import { createTestIo, type TestIo, type TestIoOptions } from './test-io.ts';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The variables of a run on this machine, whose settings and records are in a folder of its own. */
export function variablesIn(folder: string) {
  return {
    PATH: process.env.PATH ?? '',
    VLOC_CONFIG_DIR: join(folder, 'config'),
    VLOC_STATE_DIR: join(folder, 'state'),
  };
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
