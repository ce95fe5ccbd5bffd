import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // A process of its own for each file: tests change the environment, and a crash in native code ends one file only.
    pool: 'forks',
    // The suite is meant to run on two cores; ffmpeg takes more of them than Node does.
    maxWorkers: 2,
    // Real media work on a busy machine; what takes longer says so at its own test.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    globalSetup: 'test/structure/run-folder.ts',
    setupFiles: ['test/structure/isolation.ts', 'test/structure/loopback-only.ts'],
  },
});
