/**
 * Every fault, once and for ever, at each step of a run at a service that answers no more than it must: success after a retry, or the
 * documented exit code; never a second job.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkFault, leakedHeaders } from '../../client/faults/check-fault.ts';
import { createFaultEnvironment, type FaultEnvironment } from '../../client/faults/environment.ts';
import { FAULTS } from '../../client/faults/faults.ts';
import { STEPS, type Step, stepsFor } from '../../client/faults/steps.ts';
import { runOnMinimal } from './suites.ts';

/** Without polls, which are retried for a quarter of an hour by design, and steps that behave like one of these. */
const PERMANENT_STEPS: readonly Step[] = [
  'createUpload',
  'put',
  'createJob',
  'download',
  'cancel',
  'credits',
];
const PERMANENT = FAULTS.filter(({ permanent }) => permanent !== null);

runOnMinimal({});

let environment: FaultEnvironment;
beforeAll(async () => {
  environment = await createFaultEnvironment();
});
afterAll(() => environment.close());

describe.each(FAULTS.map((fault, index) => ({ ...fault, index })))('$name, once', ({ index, ...fault }) => {
  test.each(stepsFor(index, STEPS))('at %s', (step) => checkFault(environment, fault, step, 1, fault.once));
});

describe.each(PERMANENT.map((fault, index) => ({ ...fault, index })))(
  '$name, for ever',
  ({ index, ...fault }) => {
    test.each(stepsFor(index, PERMANENT_STEPS))('at %s', (step) =>
      checkFault(environment, fault, step, Number.POSITIVE_INFINITY, fault.permanent ?? fault.once),
    );
  },
);

test('a foreign host receives neither a signature nor a key', () => {
  expect(environment.foreign.length).toBeGreaterThan(0);
  expect(leakedHeaders(environment)).toEqual([]);
});
