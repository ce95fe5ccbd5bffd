/** Runs that are killed, against a service that answers no more than it must. */
import { runOnMinimal } from './suites.ts';

runOnMinimal({
  'killed at each step': () => import('../../batch/run/run-batch.killed.test.ts'),
});
