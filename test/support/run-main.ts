/** Runs of vloc in this process. */
import { join } from 'node:path';
import { main } from '../../src/cli/main.ts';
import { createTestIo, type TestIoOptions } from './test-io.ts';

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

/** Runs a command line to its end. */
export async function runMain(words: readonly string[], options: TestIoOptions = {}): Promise<Ended> {
  const { io, stdout, stderr } = createTestIo(options);
  const code = await main(words, io);
  return { code, stdout: stdout(), stderr: stderr() };
}
