/** Runs that are killed, against a service that answers no more than it must. */
import { expect, it } from 'vitest';
import { fieldsOfJob, LEAST, runOnMinimal } from './suites.ts';

runOnMinimal({
  'killed at each step': () => import('../../batch/run/run-batch.killed.test.ts'),
});

it('the service of these suites says of a job no more than it must', async () => {
  expect(await fieldsOfJob()).toEqual(LEAST);
});
