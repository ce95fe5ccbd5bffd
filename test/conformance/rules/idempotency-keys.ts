/** The form of an Idempotency-Key. */
import { expectProblem, expectStatus } from '../expect/answer.ts';
import { WRITES } from '../operations.ts';
import { bareCall } from '../prepare/operations.ts';
import { goodSubtitleFile } from '../prepare/subtitles.ts';
import { reservationOf } from '../prepare/uploads.ts';
import { type Rule, section } from '../rule.ts';
import type { ServiceUnderTest } from '../service.ts';
import { freshToken } from '../wire/caller.ts';
import type { Incoming } from '../wire/exchange.ts';

const rule = section('idempotency');

function reserveUnder(service: ServiceUnderTest, idempotencyKey: string): Promise<Incoming> {
  return service.caller.post('/uploads', reservationOf(goodSubtitleFile(service)), idempotencyKey);
}

/** Returns an unused key with this many characters, using the characters of the pattern. */
function keyOf(length: number): string {
  return freshToken().padEnd(length, 'k').slice(0, length);
}

async function expectRequired(service: ServiceUnderTest, method: string): Promise<void> {
  for (const operation of WRITES.filter((each) => each.method === method)) {
    const answer = await service.caller.call({ ...bareCall(operation), idempotencyKey: null });
    expectProblem(service, answer, 400, 'INVALID_REQUEST');
  }
}

export const IDEMPOTENCY_KEY_RULES: readonly Rule[] = [
  rule('spec', 'required-on-post', {
    title: 'every POST without Idempotency-Key is refused',
    covers: ['header.idempotency-key'],
    check: (service) => expectRequired(service, 'POST'),
  }),
  // The specification also requires it on DELETE, but declares no 400 there.
  rule('contract', 'required-on-delete', {
    title: 'every DELETE without Idempotency-Key is refused with 400',
    covers: ['header.idempotency-key'],
    check: (service) => expectRequired(service, 'DELETE'),
  }),
  rule('spec', 'pattern', {
    title: 'an Idempotency-Key with other characters than A-Z a-z 0-9 . _ : - is refused',
    covers: ['header.idempotency-key'],
    async check(service) {
      for (const key of ['', 'two words', 'a/b', 'a+b', 'é', 'a,b', '"a"', 'a=b']) {
        expectProblem(service, await reserveUnder(service, key), 400, 'INVALID_REQUEST');
      }
    },
  }),
  rule('spec', 'characters', {
    title: 'every character of the pattern is accepted',
    covers: ['header.idempotency-key'],
    async check(service) {
      expectStatus(await reserveUnder(service, `${freshToken()}.AZaz09_:-`), 201);
    },
  }),
  rule('spec', 'length', {
    title: 'an Idempotency-Key of 255 characters is accepted, one of 256 is refused',
    covers: ['header.idempotency-key', 'limit.idempotency-key'],
    async check(service) {
      expectStatus(await reserveUnder(service, keyOf(255)), 201);
      expectProblem(service, await reserveUnder(service, keyOf(256)), 400, 'INVALID_REQUEST');
    },
  }),
];
