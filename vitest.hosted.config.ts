import { defineConfig } from 'vitest/config';
import { startWith } from './test/structure/long-files-first.ts';
import { SUITE } from './vitest.suite.ts';

/** What `npm test` leaves to this suite. */
export const HOSTED = [
  'test/hosted/**/*.test.ts',
  'test/ledger/**/*.test.ts',
  'test/batch/{run,deliver}/{run-batch.swept,run-batch.swept-minimal,publish.swept}.test.ts',
];

/** Tests that run only as a part of those in `test/hosted/minimal`. */
export const PARTS_OF_HOSTED = [
  'test/batch/run/run-batch.{faults,killed,stopped}.test.ts',
  'test/commands/jobs/preparation{,.killed}.test.ts',
  'test/commands/stages/run-stages-{brought,stopped}.test.ts',
];

const LONG = ['ledger/ledger', 'hosted/sweeps/sweeps', 'hosted/minimal/commands', 'hosted/minimal/faults'];

/**
 * `npm run test:hosted`: the suites of the commands again, against a service that answers no more than the specification demands, and
 * commands that are killed at random moments. Each file has a process of its own, because such a service is set for all of it.
 */
export default defineConfig({
  test: {
    ...SUITE,
    include: HOSTED,
    sequence: { sequencer: startWith(...LONG) },
  },
});
