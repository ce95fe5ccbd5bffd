/** The matrix of faults, against a service that answers no more than it must. */
import { expect, it } from 'vitest';
import { fieldsOfJob, LEAST, runOnMinimal } from './suites.ts';

runOnMinimal({
  'every fault once': () => import('../../client/client.faults.test.ts'),
  'every permanent fault': () => import('../../client/client.permanent-faults.test.ts'),
});

it('the service of these suites returns only required fields of a job', async () => {
  expect(await fieldsOfJob()).toEqual(LEAST);
});
