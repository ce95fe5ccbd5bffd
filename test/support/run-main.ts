/** One run of vloc in this process. */
import { main } from '../../src/cli/main.ts';
import { createTestIo, type TestIoOptions } from './test-io.ts';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line to its end. */
export async function runMain(words: readonly string[], options: TestIoOptions = {}): Promise<Ended> {
  const { io, stdout, stderr } = createTestIo(options);
  const code = await main(words, io);
  return { code, stdout: stdout(), stderr: stderr() };
}
