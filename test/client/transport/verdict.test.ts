import { describe, expect, test } from 'vitest';
import { adviseUser, BLAMES, judgeAnswer, type Refused } from '../../../src/client/transport/verdict.ts';

type Row = readonly [
  origin: Refused['origin'],
  status: number,
  code: string | null,
  retryable: boolean | null,
  category: string,
  retry: string,
  blame: string,
];

const ROWS: readonly Row[] = [
  ['api', 200, null, null, 'temporary', 'backoff', 'service'],
  ['api', 400, 'INVALID_REQUEST', false, 'refused', 'never', 'request'],
  ['api', 400, null, null, 'refused', 'never', 'request'],
  ['api', 401, 'AUTHENTICATION_FAILED', false, 'configuration', 'never', 'key'],
  ['api', 401, 'AUTHENTICATION_FAILED', true, 'configuration', 'never', 'key'],
  ['api', 401, null, null, 'configuration', 'never', 'request'],
  ['api', 402, 'INSUFFICIENT_CREDITS', true, 'credits', 'never', 'credits'],
  ['api', 402, null, null, 'credits', 'never', 'credits'],
  ['api', 403, 'SOURCE_IP_NOT_ALLOWED', false, 'configuration', 'never', 'address'],
  ['api', 403, 'API_ACCESS_NOT_INCLUDED_IN_PLAN', false, 'configuration', 'never', 'plan'],
  ['api', 403, 'CAPABILITY_NOT_PERMITTED', false, 'configuration', 'never', 'permission'],
  ['api', 403, 'SOMETHING_NEW', false, 'configuration', 'never', 'access'],
  ['api', 403, null, null, 'configuration', 'never', 'request'],
  ['api', 404, 'RESOURCE_NOT_FOUND', false, 'refused', 'never', 'request'],
  ['api', 404, null, null, 'refused', 'never', 'request'],
  ['api', 408, null, null, 'temporary', 'backoff', 'service'],
  ['api', 409, 'IDEMPOTENCY_KEY_REUSED', null, 'refused', 'never', 'request'],
  ['api', 409, 'REQUEST_IN_PROGRESS', null, 'temporary', 'backoff', 'service'],
  ['api', 409, 'REQUEST_IN_PROGRESS', false, 'refused', 'never', 'request'],
  ['api', 410, 'GONE', false, 'expired', 'never', 'request'],
  ['api', 422, 'SOMETHING_NEW', true, 'temporary', 'backoff', 'service'],
  ['api', 429, 'RATE_LIMIT_EXCEEDED', true, 'temporary', 'throttle', 'service'],
  ['api', 429, 'RATE_LIMIT_EXCEEDED', null, 'temporary', 'throttle', 'service'],
  ['api', 429, 'RATE_LIMIT_EXCEEDED', false, 'refused', 'never', 'request'],
  ['api', 429, 'CONCURRENCY_LIMIT_EXCEEDED', true, 'temporary', 'queue', 'service'],
  ['api', 429, 'CONCURRENCY_LIMIT_EXCEEDED', null, 'temporary', 'queue', 'service'],
  ['api', 429, 'CREDIT_QUOTA_EXCEEDED', true, 'credits', 'never', 'quota'],
  ['api', 500, null, null, 'temporary', 'backoff', 'service'],
  ['api', 500, 'INTERNAL_ERROR', false, 'refused', 'never', 'service'],
  ['api', 501, null, null, 'temporary', 'never', 'service'],
  ['api', 502, null, null, 'temporary', 'backoff', 'service'],
  ['api', 503, null, null, 'temporary', 'backoff', 'service'],
  ['api', 503, 'SERVICE_TEMPORARILY_UNAVAILABLE', null, 'temporary', 'never', 'service'],
  ['api', 503, 'SERVICE_TEMPORARILY_UNAVAILABLE', true, 'temporary', 'backoff', 'service'],
  ['api', 503, 'SERVICE_TEMPORARILY_UNAVAILABLE', false, 'refused', 'never', 'service'],
  ['api', 504, null, null, 'temporary', 'backoff', 'service'],
  ['storage', 307, null, null, 'refused', 'never', 'storage'],
  ['storage', 400, null, null, 'refused', 'never', 'storage'],
  ['storage', 400, 'RequestTimeout', null, 'temporary', 'backoff', 'storage'],
  ['storage', 413, 'EntityTooLarge', null, 'refused', 'never', 'storage'],
  ['storage', 429, null, null, 'temporary', 'throttle', 'storage'],
  ['storage', 500, 'InternalError', null, 'temporary', 'backoff', 'storage'],
  ['storage', 501, 'NotImplemented', null, 'refused', 'never', 'storage'],
  ['storage', 503, 'SlowDown', null, 'temporary', 'backoff', 'storage'],
  ['gateway', 200, null, null, 'temporary', 'backoff', 'gateway'],
  ['gateway', 200, 'COMPRESSED', null, 'configuration', 'never', 'gateway'],
  ['gateway', 200, 'TOO_LARGE', null, 'configuration', 'never', 'gateway'],
  ['gateway', 301, null, null, 'configuration', 'never', 'gateway'],
  ['gateway', 400, null, null, 'configuration', 'never', 'gateway'],
  ['gateway', 408, null, null, 'temporary', 'backoff', 'gateway'],
  ['gateway', 413, null, null, 'configuration', 'never', 'gateway'],
  ['gateway', 429, null, null, 'temporary', 'throttle', 'gateway'],
  ['gateway', 500, null, null, 'temporary', 'backoff', 'gateway'],
  // What some content networks answer when the service behind them is away.
  ['gateway', 522, null, null, 'temporary', 'backoff', 'gateway'],
];

describe('the verdict on an answer', () => {
  test.each(ROWS)('%s %i %s, retryable %s: %s, retry %s, blames %s', (...row) => {
    const [origin, status, code, retryable, category, retry, blame] = row;
    const verdict = judgeAnswer({ origin, status, code, retryable });
    expect(verdict).toEqual({ category, retry, blame, renew: false });
  });

  test.each([
    ['storage', 'expired', 'link'],
    ['gateway', 'configuration', 'gateway'],
  ] as const)('of %s allows another link for 401, 403, 404, 409 and 410', (origin, category, blame) => {
    for (const status of [401, 403, 404, 409, 410]) {
      const verdict = judgeAnswer({ origin, status, code: null, retryable: null });
      expect(verdict).toEqual({ category, retry: 'never', blame, renew: true });
    }
    const expired = judgeAnswer({ origin: 'storage', status: 400, code: 'ExpiredToken', retryable: null });
    expect(expired).toMatchObject({ category: 'expired', renew: true });
  });
});

test('only what the service itself says of the key, its plan or its money stops a run', () => {
  const stopping = Object.entries(BLAMES).flatMap(([blame, { stops }]) => (stops === null ? [] : [blame]));
  expect(stopping).toEqual(['key', 'address', 'plan', 'permission', 'access', 'credits', 'quota']);
  expect(BLAMES.address.why).not.toMatch(/not accept/);
});

test('the advice on a refusal that is final never says to retry, whatever its code is', () => {
  for (const [status, code] of [
    [503, 'SERVICE_TEMPORARILY_UNAVAILABLE'],
    [500, 'INTERNAL_ERROR'],
    [429, 'RATE_LIMIT_EXCEEDED'],
  ] as const) {
    const verdict = judgeAnswer({ origin: 'api', status, code, retryable: false });
    expect(adviseUser(verdict, code)).not.toMatch(/again|later|wait/i);
  }
});
