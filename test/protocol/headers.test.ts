import { describe, expect, it } from 'vitest';
import {
  authHeaderNames,
  CLIENT_REQUEST_ID,
  IDEMPOTENCY_KEY,
  IDEMPOTENCY_KEY_PATTERN,
  IDEMPOTENCY_REPLAYED,
  REQUEST_ID,
  REQUEST_ID_PATTERN,
} from '../../src/protocol/headers.ts';

describe('the signature headers', () => {
  it('have the neutral prefix of the specification', () => {
    expect(authHeaderNames()).toEqual({
      key: 'x-service-key',
      timestamp: 'x-service-timestamp',
      nonce: 'x-service-nonce',
      signature: 'x-service-signature',
    });
  });

  it("have the vendor's prefix if it is set, in lower case", () => {
    expect(Object.values(authHeaderNames('X-Acme'))).toEqual([
      'x-acme-key',
      'x-acme-timestamp',
      'x-acme-nonce',
      'x-acme-signature',
    ]);
  });
});

describe('the other headers', () => {
  it('have the names of the specification', () => {
    expect([IDEMPOTENCY_KEY, IDEMPOTENCY_REPLAYED, CLIENT_REQUEST_ID, REQUEST_ID]).toEqual([
      'idempotency-key',
      'idempotency-replayed',
      'x-client-request-id',
      'x-request-id',
    ]);
  });
});

describe('an Idempotency-Key', () => {
  it.each(['a', 'A.b_c:d-9'])('may be %j', (key) => {
    expect(IDEMPOTENCY_KEY_PATTERN.test(key)).toBe(true);
  });

  it.each(['', 'a b', 'a/b', 'é', 'a\n', 'a,b', 'a;b'])('may not be %j', (key) => {
    expect(IDEMPOTENCY_KEY_PATTERN.test(key)).toBe(false);
  });

  it('has at most 255 characters', () => {
    expect(IDEMPOTENCY_KEY_PATTERN.test('x'.repeat(255))).toBe(true);
    expect(IDEMPOTENCY_KEY_PATTERN.test('x'.repeat(256))).toBe(false);
  });
});

describe('a request id', () => {
  it('starts with req_ and continues with letters, digits, _ and -', () => {
    expect(REQUEST_ID_PATTERN.test('req_Ab-9_')).toBe(true);
    for (const id of ['req_', 'Req_a', 'a req_a', 'req_a b', 'req_a\n']) {
      expect(REQUEST_ID_PATTERN.test(id)).toBe(false);
    }
  });
});
