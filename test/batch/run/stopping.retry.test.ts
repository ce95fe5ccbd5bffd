import { describe, expect, it } from 'vitest';
import { Failure, type FailureFacts } from '../../../src/base/failure.ts';
import { afterTemporary, pauseOf } from '../../../src/batch/run/stopping.ts';

const temporary = (facts: Partial<FailureFacts> = {}) =>
  new Failure({ category: 'temporary', code: 'X', message: 'x', ...facts });
const TRIES = { failures: 1, inARow: 1, items: 10, isStopped: false };

describe('an item with a temporary failure', () => {
  it('is tried again while there are others', () => {
    expect(afterTemporary(temporary(), TRIES)).toBe(true);
    expect(afterTemporary(temporary(), { ...TRIES, items: 1 })).toBe(false);
    expect(afterTemporary(temporary(), { ...TRIES, isStopped: true })).toBe(false);
    expect(afterTemporary(temporary({ category: 'refused' }), TRIES)).toBe(false);
  });

  it('is given up after five attempts while others succeed, but not in an outage', () => {
    expect(afterTemporary(temporary(), { ...TRIES, failures: 5 })).toBe(false);
    expect(afterTemporary(temporary(), { ...TRIES, failures: 50, inARow: 50 })).toBe(true);
  });

  it('is left to the next run if the service asks for a long wait', () => {
    expect(afterTemporary(temporary({ retryAfterMs: 60_000 }), TRIES)).toBe(true);
    expect(afterTemporary(temporary({ retryAfterMs: 60_001 }), TRIES)).toBe(false);
  });
});

it('pauses double up to a minute', () => {
  expect([1, 2, 3, 4, 5, 50].map(pauseOf)).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
});
