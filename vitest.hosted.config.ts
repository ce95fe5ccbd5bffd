import { defineConfig } from 'vitest/config';

/** What `npm test` leaves to this suite. */
export const HOSTED = [
  'test/hosted/{minimal,sweeps}/**/*.test.ts',
  'test/batch/run/run-batch.swept-minimal.test.ts',
];

/** Tests that run only as a part of `test/hosted/minimal/faults.test.ts`. */
export const PARTS_OF_HOSTED = ['test/client/client.{faults,permanent-faults}.test.ts'];

/**
 * `npm run test:hosted`: the suites of the commands again, against a service that answers no more than the specification demands, and
 * commands that are killed at random moments. Each file has a process of its own, because such a service is set for all of it.
 */
export default defineConfig({
  test: {
    pool: 'forks',
    include: HOSTED,
    // As many as in vitest.config.ts, for the same reason.
    maxWorkers: 4,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A state may take as long as the test; a little less, so that the message says which one did not come.
    expect: { poll: { timeout: 170_000 } },
    globalSetup: 'test/structure/run-folder.ts',
    setupFiles: ['test/structure/isolation.ts', 'test/structure/loopback-only.ts'],
  },
});
