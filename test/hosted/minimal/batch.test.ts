/** Batches, against a service that answers no more than it must. */
import { expect, it } from 'vitest';
import { fieldsOfJob, LEAST, runOnMinimal } from './suites.ts';

runOnMinimal(
  {
    'run-batch': () => import('../../batch/run/run-batch.test.ts'),
    'run-batch, more of it': () => import('../../batch/run/run-batch.more.test.ts'),
    'run-batch, stopped': () => import('../../batch/run/run-batch.stopped.test.ts'),
    'run-batch, with faults': () => import('../../batch/run/run-batch.faults.test.ts'),
  },
  // What was charged, and why a file was refused, are the subject of some.
  ['billing', 'error'],
);

it('the service of these suites returns only required fields of a job', async () => {
  expect(await fieldsOfJob()).toEqual([...LEAST, 'error'].sort());
});
