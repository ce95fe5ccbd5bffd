import { describe, expect, test } from 'vitest';
import {
  type Addressee,
  adviseUser,
  BLAMES,
  classifyError,
  type ErrorResponse,
  gatewayFacts,
} from '../../../src/client/transport/error-class.ts';
import { ERROR_CODES } from '../../../src/protocol/error-codes.ts';

type Row = readonly [
  origin: ErrorResponse['origin'],
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
  // What some content networks answer when the origin is down.
  ['gateway', 522, null, null, 'temporary', 'backoff', 'gateway'],
];

describe('the verdict on an answer', () => {
  test.each(ROWS)('%s %i %s, retryable %s: %s, retry %s, blames %s', (...row) => {
    const [origin, status, code, retryable, category, retry, blame] = row;
    const verdict = classifyError({ origin, status, code, retryable });
    expect(verdict).toEqual({ category, retry, blame, renew: false });
  });

  test.each([
    ['storage', 'expired', 'link'],
    ['gateway', 'configuration', 'gateway'],
  ] as const)('of %s allows another link for 401, 403, 404, 409 and 410', (origin, category, blame) => {
    for (const status of [401, 403, 404, 409, 410]) {
      const verdict = classifyError({ origin, status, code: null, retryable: null });
      expect(verdict).toEqual({ category, retry: 'never', blame, renew: true });
    }
    const expired = classifyError({ origin: 'storage', status: 400, code: 'ExpiredToken', retryable: null });
    expect(expired).toMatchObject({ category: 'expired', renew: true });
  });
});

test('every answer of every origin has a verdict, and each verdict with another link comes from a storage address', () => {
  for (const origin of ['api', 'storage', 'gateway'] as const) {
    for (const retryable of [true, false, null]) {
      const statuses = Array.from({ length: 400 }, (_, more) => 200 + more);
      const renewed = statuses.filter(
        (status) => classifyError({ origin, status, code: null, retryable }).renew,
      );
      expect(renewed).toEqual(origin === 'api' ? [] : [401, 403, 404, 409, 410]);
    }
  }
});

test('an origin that the table does not know is a defect, not a verdict', () => {
  // A row can be missing only by a defect; the type rules it out.
  const origin = 'elsewhere' as ErrorResponse['origin'];
  const judge = () => classifyError({ origin, status: 500, code: null, retryable: null });
  expect(judge).toThrow('no row for an answer from elsewhere');
});

test('only what the service itself says about the key, its plan or its money stops a run', () => {
  const stopping = Object.entries(BLAMES).flatMap(([blame, { stops }]) => (stops === null ? [] : [blame]));
  expect(stopping).toEqual(['key', 'address', 'plan', 'permission', 'access', 'credits', 'quota']);
  expect(BLAMES.address.why).not.toMatch(/not accept/);
});

test('the advice on a final refusal never says to retry, whatever its code is', () => {
  for (const [status, code] of [
    [503, 'SERVICE_TEMPORARILY_UNAVAILABLE'],
    [500, 'INTERNAL_ERROR'],
    [429, 'RATE_LIMIT_EXCEEDED'],
  ] as const) {
    const verdict = classifyError({ origin: 'api', status, code, retryable: false });
    expect(adviseUser(verdict, code)).not.toMatch(/again|later|wait/i);
  }
});

describe('the advice on a refusal', () => {
  const advise = (refused: Partial<ErrorResponse> & { status: number }) => {
    const whole = { origin: 'api', code: null, retryable: null, ...refused } as const;
    return adviseUser(classifyError(whole), whole.code);
  };

  test.each([
    [
      { status: 402, code: 'INSUFFICIENT_CREDITS', retryable: false },
      ERROR_CODES.INSUFFICIENT_CREDITS.advice,
    ],
    [{ status: 404, code: 'RESOURCE_NOT_FOUND', retryable: false }, ERROR_CODES.RESOURCE_NOT_FOUND.advice],
    [{ status: 429, code: 'RATE_LIMIT_EXCEEDED', retryable: true }, ERROR_CODES.RATE_LIMIT_EXCEEDED.advice],
    [
      { status: 422, code: 'MADE_UP_TODAY', retryable: false },
      'Correct the request; for help, give the request id to the operator of the service.',
    ],
    [
      // A code that can be retried, of an answer that says the opposite about this request.
      { status: 429, code: 'RATE_LIMIT_EXCEEDED', retryable: false },
      'Correct the request; for help, give the request id to the operator of the service.',
    ],
    [{ status: 402 }, 'Add credits, then run the same command again.'],
    [{ status: 410 }, 'Start a new job.'],
    [{ status: 500 }, 'Run the same command again later.'],
    [{ status: 401 }, 'Check the key, its permissions and the base URL: `vloc doctor` tests them.'],
    [
      { status: 503, code: 'SERVICE_TEMPORARILY_UNAVAILABLE', retryable: false },
      'The service says that a retry does not help: give the request id to its operator.',
    ],
  ])('%j is: %s', (refused, advice) => {
    expect(advise(refused)).toBe(advice);
  });
});

describe('an answer of something in front of the service', () => {
  const facts = (status: number, addressee: Addressee, shown = '') => {
    const verdict = classifyError({ origin: 'gateway', status, code: null, retryable: null });
    return gatewayFacts(verdict, status, shown, addressee);
  };

  test.each<[number, Addressee, string, string]>([
    [
      200,
      'the API',
      'the answer did not come from the API (status 200)',
      'Check the base URL and any proxy, firewall or login page between here and the API, then run the same command again.',
    ],
    [
      404,
      'the API',
      'the answer did not come from the API (status 404)',
      'Check the base URL and any proxy, firewall or login page between here and the API.',
    ],
    [
      404,
      'storage',
      'the answer did not come from storage (status 404)',
      'Check any proxy, firewall or login page between here and storage.',
    ],
    ...[401, 403, 407, 451].map((status): [number, Addressee, string, string] => [
      status,
      'storage',
      `a proxy, gateway or firewall in front of storage refused the request (status ${status})`,
      'Check any proxy, firewall or login page between here and storage.',
    ]),
    [
      429,
      'the API',
      'a proxy or gateway in front of the API asks for fewer requests (status 429)',
      'Run the same command again later.',
    ],
    ...[500, 599].map((status): [number, Addressee, string, string] => [
      status,
      'storage',
      `a proxy or gateway in front of storage is failing (status ${status})`,
      'Run the same command again later.',
    ]),
  ])('%i in front of %s reads: %s', (status, addressee, message, advice) => {
    expect(facts(status, addressee)).toMatchObject({ message, advice });
  });

  test('names the gateway, the status and the first line of its page', () => {
    expect(facts(502, 'storage', 'Bad Gateway')).toEqual({
      category: 'temporary',
      code: 'NOT_THE_STORAGE',
      origin: 'gateway',
      blame: 'gateway',
      message: 'a proxy or gateway in front of storage is failing (status 502: Bad Gateway)',
      advice: 'Run the same command again later.',
      status: 502,
      retryable: true,
    });
    expect(facts(404, 'the API')).toMatchObject({ code: 'NOT_THE_SERVICE', retryable: false });
  });
});
