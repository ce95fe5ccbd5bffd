/** Every permanent fault: the documented exit code once the retries are used up, and never a second job. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkFault, leakedHeaders } from './faults/check-fault.ts';
import { createFaultEnvironment, type FaultEnvironment } from './faults/environment.ts';
import { FAULTS } from './faults/faults.ts';
import { type Step, stepsFor } from './faults/steps.ts';

let environment: FaultEnvironment;
beforeAll(async () => {
  environment = await createFaultEnvironment();
});
afterAll(() => environment.close());

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

describe.each(PERMANENT.map((fault, index) => ({ ...fault, index })))('$name', ({ index, ...fault }) => {
  test.each(stepsFor(index, PERMANENT_STEPS))('at %s', (step) =>
    checkFault(environment, fault, step, Number.POSITIVE_INFINITY, fault.permanent ?? fault.once),
  );
});

test('a foreign host receives neither a signature nor a key', () => {
  expect(environment.foreign.length).toBeGreaterThan(0);
  expect(leakedHeaders(environment)).toEqual([]);
});
