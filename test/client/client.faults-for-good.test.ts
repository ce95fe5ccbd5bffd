/** Every fault, without an end: the documented exit code once the retries are used up, and never a second job. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAULTS } from './faults/faults.ts';
import { meet, toldToStranger } from './faults/meet.ts';
import type { Step } from './faults/steps.ts';
import { openTheatre, type Theatre } from './faults/theatre.ts';

let theatre: Theatre;
beforeAll(async () => {
  theatre = await openTheatre();
});
afterAll(() => theatre.close());

/** Polls go on for a quarter of an hour by design, and tell of it; the rest of the steps are like these. */
const LASTING_STEPS: readonly Step[] = ['createUpload', 'put', 'createJob', 'download', 'cancel', 'credits'];

describe.each(FAULTS.filter(({ forGood }) => forGood !== null))('$name', (fault) => {
  test.each(LASTING_STEPS)('at %s', (step) =>
    meet(theatre, fault, step, Number.POSITIVE_INFINITY, fault.forGood ?? fault.once),
  );
});

test('a host that has no part in it was asked without a signature or a key', () => {
  expect(theatre.foreign.length).toBeGreaterThan(0);
  expect(toldToStranger(theatre)).toEqual([]);
});
