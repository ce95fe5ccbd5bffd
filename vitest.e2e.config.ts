import { defineConfig } from 'vitest/config';
import { SUITE } from './vitest.suite.ts';

/** What `npm test` leaves to this suite: tests of the packed tool, and those beside what they test that are whole jobs, shells, kills. */
export const E2E = ['test/e2e/**/*.test.ts', 'test/**/*.e2e.test.ts'];

/**
 * `npm run test:e2e`: the tool as a user gets it: packed and installed, in a terminal, in shells and a browser, under the oldest Node, with the
 * built-in engines; and what a machine does to it. Nearly all of it is the work of npm, Node, ffmpeg and Chromium in processes of their own.
 */
export default defineConfig({
  test: { ...SUITE, include: E2E, globalSetup: [...SUITE.globalSetup, 'test/e2e/install.ts'] },
});
