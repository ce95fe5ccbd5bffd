/** Every fault, once, at every step of a run: success after a retry, or the documented exit code; never a second job. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAULTS } from './faults/faults.ts';
import { meet, toldToStranger } from './faults/meet.ts';
import { STEPS } from './faults/steps.ts';
import { openTheatre, type Theatre } from './faults/theatre.ts';

let theatre: Theatre;
beforeAll(async () => {
  theatre = await openTheatre();
});
afterAll(() => theatre.close());

describe.each(FAULTS)('$name', (fault) => {
  test.each(STEPS)('at %s', (step) => meet(theatre, fault, step, 1, fault.once));
});

test('a host that has no part in it was asked without a signature or a key', () => {
  expect(theatre.foreign.length).toBeGreaterThan(0);
  expect(toldToStranger(theatre)).toEqual([]);
});
