import { describe, expect, it } from 'vitest';
import { Failure, type FailureFacts } from '../../../src/base/failure.ts';
import { endsWaiting, stopReasonOf, whyStopped } from '../../../src/batch/run/stopping.ts';

const failure = (facts: Partial<FailureFacts>) =>
  new Failure({ category: 'refused', code: 'X', message: 'x', ...facts });
const CALM = { inARow: 1, inFlight: 1, isAddress: false };

describe('a failure that stops the run', () => {
  it.each([
    [{ category: 'credits', origin: 'api', blame: 'credits', status: 402 }, 'no-credits'],
    [{ category: 'credits', origin: 'api', blame: 'quota', status: 429 }, 'quota'],
    [{ category: 'configuration', origin: 'api', blame: 'key', status: 401 }, 'authentication'],
    [{ category: 'configuration', origin: 'api', blame: 'address', status: 403 }, 'authentication'],
    [{ category: 'configuration', origin: 'gateway', blame: 'gateway', status: 401 }, null],
    [{ category: 'expired', origin: 'storage', blame: 'link', status: 403 }, null],
    [{ category: 'refused', status: 422 }, null],
    [{ category: 'temporary', status: 503 }, null],
  ] as const)('%j: %s', (facts, reason) => {
    expect(stopReasonOf(failure(facts), CALM)).toBe(reason);
  });

  it('is the third temporary one in a row, with nothing running', () => {
    const outage = failure({ category: 'temporary' });
    expect(stopReasonOf(outage, { ...CALM, inARow: 2, inFlight: 0 })).toBeNull();
    expect(stopReasonOf(outage, { ...CALM, inARow: 3, inFlight: 1 })).toBeNull();
    expect(stopReasonOf(outage, { ...CALM, inARow: 3, inFlight: 0 })).toBe('network');
  });

  it('is the third address in a row that the credits do not suffice for', () => {
    const unpaid = failure({ category: 'credits', blame: 'quota' });
    expect(stopReasonOf(unpaid, { inARow: 2, inFlight: 0, isAddress: true })).toBeNull();
    expect(stopReasonOf(unpaid, { inARow: 3, inFlight: 1, isAddress: true })).toBe('quota');
  });
});

it('the reason of a stop is what the service blamed, and only a refused key blames the key', () => {
  const refused = (blame: NonNullable<FailureFacts['blame']>) =>
    whyStopped('authentication', failure({ category: 'configuration', origin: 'api', blame }));
  expect(refused('key')).toContain('does not accept the key');
  expect(refused('address')).toBe("the address of this machine is not on the key's allow-list");
  expect(refused('plan')).toContain('plan does not include API access');
  expect(refused('permission')).toContain('lacks the permission');
  expect(whyStopped('network', failure({ category: 'temporary', origin: 'gateway', blame: 'gateway' }))).toBe(
    '3 requests in a row failed with temporary errors',
  );
});

it('running jobs are waited for if no money or time is left for new ones', () => {
  for (const reason of ['no-credits', 'quota', 'max-credits', 'max-duration', 'network'] as const)
    expect(endsWaiting(reason)).toBe(false);
  for (const reason of ['authentication', 'interrupted', 'broken', 'timeout'] as const)
    expect(endsWaiting(reason)).toBe(true);
});
