import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import {
  hashBody,
  parseBaseUrl,
  resolveTarget,
  signedHeaders,
} from '../../../src/client/transport/request.ts';
import { authHeaderNames } from '../../../src/protocol/headers.ts';
import { expectedSignature } from '../support/check-signature.ts';

interface Vectors {
  secret: string;
  timestamp: string;
  nonce: string;
  valid: { method: string; target: string; body: string; canonical: string; signature: string }[];
  rejected: { target: string }[];
}

const file = new URL('../../fixtures/canonical-vectors.json', import.meta.url);
const vectors: Vectors = JSON.parse(readFileSync(file, 'utf8'));
const base = parseBaseUrl('https://api.example.com/v1');
const names = authHeaderNames();

test.each(vectors.valid)('signs $method $target as the vectors made outside the project', (vector) => {
  const { signed } = resolveTarget(base, vector.target);
  const body = vector.body === '' ? null : Buffer.from(vector.body);
  const { method } = vector;
  const headers = signedHeaders(
    { key: 'key', secret: vectors.secret, names },
    { method, signedTarget: signed, body, bodySha256: hashBody(body), idempotencyKey: null },
    { timeMs: Number(vectors.timestamp) * 1000 + 999, nonce: vectors.nonce },
  );
  expect(signed).toBe(vector.canonical.split('\n')[1]);
  expect(headers[names.signature]).toBe(vector.signature);
  expect(headers[names.timestamp]).toBe(vectors.timestamp);
  const { timestamp, nonce } = vectors;
  const second = { method, target: signed, timestamp, nonce, body: vector.body };
  expect(expectedSignature(vectors.secret, second)).toBe(vector.signature);
});

test.each(vectors.rejected)('refuses $target before anything is sent', ({ target }) => {
  // A target that does not begin with the version is a path below it, where `//` stays an empty segment.
  expect(() => resolveTarget(base, target)).toThrow(Failure);
});
