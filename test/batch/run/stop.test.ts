import { describe, expect, it } from 'vitest';
import { endsWaiting, stopReasonOf } from '../../../src/batch/run/stop.ts';
import { Failure, type FailureFacts } from '../../../src/client/failure.ts';

const failure = (facts: Partial<FailureFacts>) =>
  new Failure({ category: 'refused', code: 'X', message: 'x', ...facts });
const CALM = { inARow: 1, inFlight: 1 };

describe('a failure that stops the run', () => {
  it.each([
    [{ category: 'credits', code: 'INSUFFICIENT_CREDITS', status: 402 }, 'no-credits'],
    [{ category: 'credits', code: 'CREDIT_QUOTA_EXCEEDED', status: 429 }, 'quota'],
    [{ category: 'configuration', status: 401 }, 'authentication'],
    [{ category: 'configuration', status: 403 }, 'authentication'],
    [{ category: 'refused', status: 422 }, null],
    [{ category: 'usage' }, null],
    [{ category: 'temporary', status: 503 }, null],
    [{ category: 'disk' }, null],
  ] as const)('%j: %s', (facts, reason) => {
    expect(stopReasonOf(failure(facts), CALM)).toBe(reason);
  });

  it('is the third one in a row that passes, with nothing under way', () => {
    const outage = failure({ category: 'temporary' });
    expect(stopReasonOf(outage, { inARow: 2, inFlight: 0 })).toBeNull();
    expect(stopReasonOf(outage, { inARow: 3, inFlight: 1 })).toBeNull();
    expect(stopReasonOf(outage, { inARow: 3, inFlight: 0 })).toBe('network');
  });
});

it('jobs that run are waited for when money or time for new ones is over', () => {
  for (const reason of ['no-credits', 'quota', 'max-credits', 'max-duration', 'network'] as const)
    expect(endsWaiting(reason)).toBe(false);
  for (const reason of ['authentication', 'interrupted', 'broken', 'timeout'] as const)
    expect(endsWaiting(reason)).toBe(true);
});
