import { describe, expect, it } from 'vitest';
import { ERROR_CODES, isErrorCode } from '../../src/protocol/error-codes.ts';

/** The table of the specification; `retryable` as its "condition and action" say. */
const SPECIFIED = [
  [400, 'INVALID_REQUEST', false],
  [401, 'AUTHENTICATION_FAILED', false],
  [402, 'INSUFFICIENT_CREDITS', false],
  [403, 'API_ACCESS_NOT_INCLUDED_IN_PLAN', false],
  [403, 'SOURCE_IP_NOT_ALLOWED', false],
  [409, 'IDEMPOTENCY_KEY_REUSED', false],
  [429, 'RATE_LIMIT_EXCEEDED', true],
  [429, 'CONCURRENCY_LIMIT_EXCEEDED', true],
  [429, 'CREDIT_QUOTA_EXCEEDED', false],
  [503, 'SERVICE_TEMPORARILY_UNAVAILABLE', true],
];

/** The table of the contract, for the statuses that the specification leaves open. */
const DECIDED = [
  [403, 'CAPABILITY_NOT_PERMITTED', false],
  [404, 'RESOURCE_NOT_FOUND', false],
  [405, 'METHOD_NOT_ALLOWED', false],
  [409, 'JOB_NOT_CANCELLABLE', false],
  [409, 'UPLOAD_STATE_CONFLICT', false],
  [409, 'UPLOAD_ETAG_MISMATCH', false],
  [413, 'CONTENT_TOO_LARGE', false],
  [415, 'UNSUPPORTED_MEDIA_TYPE', false],
  [422, 'INPUT_NOT_USABLE', false],
  [422, 'MEDIA_VALIDATION_FAILED', false],
  [422, 'SUBTITLE_VALIDATION_FAILED', false],
  [422, 'LANGUAGE_NOT_SUPPORTED', false],
  [500, 'INTERNAL_ERROR', true],
];

describe('the error codes', () => {
  it('are those of the specification and of the contract, and no others', () => {
    const rows = Object.entries(ERROR_CODES).map(([code, { status, retryable }]) => [
      status,
      code,
      retryable,
    ]);
    expect(rows.toSorted()).toEqual([...SPECIFIED, ...DECIDED].toSorted());
  });

  it('each have a title without a final stop and advice in sentences', () => {
    for (const { title, advice } of Object.values(ERROR_CODES)) {
      expect(title).toMatch(/^[A-Z][^.]+[^.]$/);
      expect(advice).toMatch(/^[A-Z].{10,}\.$/);
    }
  });
});

describe('a code from a service', () => {
  it.each([
    ['RATE_LIMIT_EXCEEDED', true],
    ['rate_limit_exceeded', false],
    ['TEAPOT', false],
    ['', false],
    ['constructor', false],
  ])('%j is known: %s', (code, known) => {
    expect(isErrorCode(code)).toBe(known);
  });
});
