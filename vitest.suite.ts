import { join } from 'node:path';
import type { ViteUserConfig } from 'vitest/config';

/** What all suites share. */
export const SUITE = {
  pool: 'forks',
  execArgv: ['--import', join(import.meta.dirname, 'test/structure/one-string-width.js')],
  // For two cores: a test waits for programs, disks and timers for a fifth of its time, and with three files at a time the
  // cores were idle for an eighth of the run.
  maxWorkers: 4,
  // Real media work, also on a machine whose cores are busy with something else; a test that waits forever still ends.
  testTimeout: 180_000,
  // `.ci/run` runs a failed test once more, and the output says so: there a single mistake of timing must not stop a release.
  retry: Number(process.env.VLOC_TEST_RETRIES ?? 0),
  hookTimeout: 180_000,
  // A state may take as long as the test; a little less, so that the message says which one did not come.
  expect: { poll: { timeout: 170_000 } },
  globalSetup: ['test/structure/run-folder.ts'],
  setupFiles: ['test/structure/isolation.ts', 'test/structure/loopback-only.ts'],
} satisfies ViteUserConfig['test'];
