import { defineConfig } from 'vitest/config';
import { startWith } from './test/structure/long-files-first.ts';
import { SUITE } from './vitest.suite.ts';

/** What `npm test` leaves to this suite: tests of the packed tool, and those beside what they test that are whole jobs, shells, kills. */
export const E2E = ['test/e2e/**/*.test.ts', 'test/**/*.e2e.test.ts'];

/** The longest files. Those that begin with the run do not wait for the packed tool. */
const FIRST = [
  'service/full-disk.e2e',
  'golden/examples.e2e',
  'batch/page/dom/dom.e2e',
  'e2e/fresh-checkout',
  'commands/models/localize.e2e',
  'e2e/examples',
  'e2e/supported-nodes',
  'e2e/localize',
  'batch/page/dom/attention.e2e',
  'service/crash.e2e',
  'e2e/action',
];

/**
 * `npm run test:e2e`: the tool as a user gets it: packed and installed, in a terminal, in shells and a browser, under the oldest Node, with the
 * built-in engines; and what a machine does to it. Nearly all of it is the work of npm, Node, ffmpeg and Chromium in processes of their own.
 */
export default defineConfig({
  test: {
    ...SUITE,
    include: E2E,
    globalSetup: [...SUITE.globalSetup, 'test/e2e/install.ts'],
    // The files share the processes of the workers: to load the sources takes a second for each of them.
    isolate: false,
    sequence: { sequencer: startWith(...FIRST) },
  },
});
