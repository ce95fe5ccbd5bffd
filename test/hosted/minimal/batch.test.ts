/** Lost records and lost answers, against a service that answers no more than it must. */
import { runOnMinimal } from './suites.ts';

runOnMinimal(
  {
    'run-batch, stopped': () => import('../../batch/run/run-batch.stopped.test.ts'),
    'run-batch, with faults': () => import('../../batch/run/run-batch.faults.test.ts'),
  },
  // What was charged, and why a file was refused, are the subject of some.
  ['billing', 'error'],
);
