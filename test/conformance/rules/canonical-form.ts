/** The canonical form of path and query, which the specification leaves open. */
import assert from 'node:assert/strict';
import { expectProblem, expectStatus } from '../expect/answer.ts';
import { crowd, idsOf } from '../prepare/lists.ts';
import { type Rule, section } from '../rule.ts';
import type { ServiceUnderTest } from '../service.ts';
import { send } from '../wire/exchange.ts';
import { signatureOf } from '../wire/sign.ts';

const rule = section('canonical-form');

/** Requests a list with an unchanged query, signed as `signedQuery`. */
function getSignedAs({ caller }: ServiceUnderTest, path: string, query: string, signedQuery: string) {
  const signed = caller.sign({ method: 'GET', path });
  const { key, secret } = caller.credentials;
  const { names } = caller;
  const timestamp = String(signed.headers[names.timestamp]);
  const nonce = String(signed.headers[names.nonce]);
  const target = signed.target + signedQuery;
  const signature = signatureOf(secret, { method: 'GET', target, timestamp, nonce, body: Buffer.alloc(0) });
  const headers = { ...signed.headers, [names.key]: key, [names.signature]: signature };
  return send({ ...signed, target: signed.target + query, headers });
}

export const CANONICAL_FORM_RULES: readonly Rule[] = [
  rule('contract', 'query-order', {
    title: 'parameters may come in any order: the signature is over the sorted ones',
    covers: ['auth.canonical-form'],
    async check(service) {
      const sorted = '?created_after=2026-01-01T00%3A00%3A00Z&limit=2&purpose=subtitle_file';
      const turned = '?purpose=subtitle_file&limit=2&created_after=2026-01-01T00%3A00%3A00Z';
      await crowd(service);
      const answer = await getSignedAs(service, '/uploads', turned, sorted);
      expectStatus(answer, 200);
      assert.equal(idsOf(answer).length, 2);
    },
  }),
  rule('contract', 'query-encoding', {
    title:
      'escapes may be lower-case and unnecessary: the signature is over the canonical ones and no others',
    covers: ['auth.canonical-form'],
    async check(service) {
      const written = '?client_reference=%e7%ac%ac%20%61*';
      const canonical = '?client_reference=%E7%AC%AC%20a%2A';
      expectStatus(await getSignedAs(service, '/dubbings', written, canonical), 200);
      const asWritten = await getSignedAs(service, '/dubbings', written, written);
      expectProblem(service, asWritten, 401, 'AUTHENTICATION_FAILED');
    },
  }),
  rule('contract', 'plus-is-plus', {
    title: 'a plus sign in a query is a plus sign, signed as %2B',
    covers: ['auth.canonical-form'],
    async check(service) {
      const signed = '?client_reference=a%2Bb';
      expectStatus(await getSignedAs(service, '/dubbings', '?client_reference=a+b', signed), 200);
      const asSpace = await getSignedAs(
        service,
        '/dubbings',
        '?client_reference=a+b',
        '?client_reference=a%20b',
      );
      expectProblem(service, asSpace, 401, 'AUTHENTICATION_FAILED');
    },
  }),
];
