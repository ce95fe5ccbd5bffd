import { defineConfig } from 'vitest/config';
import { SUITE } from './vitest.suite.ts';

/** What `npm test` leaves to this suite. */
export const E2E = [
  'test/e2e/**/*.test.ts',
  // The report in a real browser.
  'test/batch/page/dom/**/*.test.ts',
  // The completions in real shells, and the examples of the help.
  'test/docs/completions/*.test.ts',
  'test/golden/examples.test.ts',
  // Whole jobs with real engines.
  'test/commands/screen/print-provenance.own-engines.test.ts',
  'test/commands/engines/engines-test.test.ts',
  'test/commands/models/localize.test.ts',
  'test/engines/backends/openai/recognizer.whisper-cpp.test.ts',
  'test/engines/run/steps.test.ts',
  'test/service/media/{engines,subtitles}.test.ts',
  // Processes that are killed again and again, and a disk that is full.
  'test/batch/records/database.crash.test.ts',
  'test/commands/models/interrupted-install.test.ts',
  'test/service/{crash,full-disk}.test.ts',
];

/**
 * `npm run test:e2e`: the tool as a user gets it: packed and installed, in a terminal, in shells and a browser, under the oldest Node, with the
 * built-in engines; and what a machine does to it. Nearly all of it is the work of npm, Node, ffmpeg and Chromium in processes of their own.
 */
export default defineConfig({
  test: { ...SUITE, include: E2E, globalSetup: [...SUITE.globalSetup, 'test/e2e/install.ts'] },
});
