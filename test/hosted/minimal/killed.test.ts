/** Runs that are killed, against a service that answers no more than it must. */
import { expect, it } from 'vitest';
import { fieldsOfJob, LEAST, runOnMinimal } from './suites.ts';

runOnMinimal({
  'killed at each step': () => import('../../batch/run/run-batch.killed.test.ts'),
});

it('the service of these suites returns only required fields of a job', async () => {
  expect(await fieldsOfJob()).toEqual(LEAST);
});
