import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // A process of its own for each file: tests change the environment, suites are run again by others that import them, and
    // a crash in native code ends one file only.
    pool: 'forks',
    // The suite is meant to run on two cores; ffmpeg takes more of them than Node does.
    maxWorkers: 2,
    // Real media work, also on a machine whose cores are busy with something else; a test that waits for ever still ends.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    globalSetup: 'test/structure/run-folder.ts',
    setupFiles: ['test/structure/isolation.ts', 'test/structure/loopback-only.ts'],
  },
});
