import { defineConfig } from 'vitest/config';

/** What `npm test` leaves to this suite. */
export const E2E = ['test/e2e/**/*.test.ts'];

/**
 * `npm run test:e2e`: the tool as a user gets it: packed and installed, in a terminal, under the oldest Node, with the built-in engines.
 * Nearly all of it is the work of npm, Node and ffmpeg in processes of their own, as long as all tests of some rooms together.
 */
export default defineConfig({
  test: {
    pool: 'forks',
    include: E2E,
    // As many as in vitest.config.ts, for the same reason.
    maxWorkers: 4,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A state may take as long as the test; a little less, so that the message says which one did not come.
    expect: { poll: { timeout: 170_000 } },
    globalSetup: ['test/structure/run-folder.ts', 'test/e2e/install.ts'],
    setupFiles: ['test/structure/isolation.ts', 'test/structure/loopback-only.ts'],
  },
});
