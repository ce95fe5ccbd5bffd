/** Every fault, once, at every step of a run: success after a retry, or the documented exit code; never a second job. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkFault, leakedHeaders } from './faults/check-fault.ts';
import { createFaultEnvironment, type FaultEnvironment } from './faults/environment.ts';
import { FAULTS } from './faults/faults.ts';
import { STEPS, stepsFor } from './faults/steps.ts';

let environment: FaultEnvironment;
beforeAll(async () => {
  environment = await createFaultEnvironment();
});
afterAll(() => environment.close());

describe.each(FAULTS.map((fault, index) => ({ ...fault, index })))('$name', ({ index, ...fault }) => {
  test.each(stepsFor(index, STEPS))('at %s', (step) => checkFault(environment, fault, step, 1, fault.once));
});

test('a foreign host receives neither a signature nor a key', () => {
  expect(environment.foreign.length).toBeGreaterThan(0);
  expect(leakedHeaders(environment)).toEqual([]);
});
