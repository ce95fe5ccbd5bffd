/** Timestamps and nonces: the allowed age of a request, and that it is accepted only once. */
import assert from 'node:assert/strict';
import { expectProblem, expectStatus, headerOf } from '../expect/answer.ts';
import { type Rule, section } from '../rule.ts';
import { adminOf, otherCaller, type ServiceUnderTest } from '../service.ts';
import { freshToken } from '../wire/caller.ts';
import { type Incoming, send } from '../wire/exchange.ts';

const rule = section('authentication');

/** The second may change between signing and checking. In one of this many attempts it does not. */
const ATTEMPTS = 5;

/**
 * Requests the balance with a timestamp at exactly this distance from the clock of the service, as shown in its Date
 * header.
 */
async function askAtSkew(service: ServiceUnderTest, seconds: number): Promise<Incoming> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const timestamp = Math.floor(service.now() / 1000) + seconds;
    const answer = await service.caller.call({ method: 'GET', path: '/credits', timestamp });
    const served = Math.floor(Date.parse(headerOf(answer, 'Date')) / 1000);
    if (timestamp - served === seconds) return answer;
  }
  assert.fail(`no request met the service at a skew of ${seconds} s`);
}

const SECOND_MS = 1000;

export const FRESHNESS_RULES: readonly Rule[] = [
  rule('spec', 'timestamp-past', {
    title: 'a timestamp 300 s in the past is accepted, one 301 s in the past is refused',
    covers: ['auth.timestamp', 'limit.skew', 'auth.failed'],
    async check(service) {
      expectStatus(await askAtSkew(service, -300), 200);
      expectProblem(service, await askAtSkew(service, -301), 401, 'AUTHENTICATION_FAILED');
    },
  }),
  rule('spec', 'timestamp-future', {
    title: 'a timestamp 300 s in the future is accepted, one 301 s in the future is refused',
    covers: ['auth.timestamp', 'limit.skew', 'auth.failed'],
    async check(service) {
      expectStatus(await askAtSkew(service, 300), 200);
      expectProblem(service, await askAtSkew(service, 301), 401, 'AUTHENTICATION_FAILED');
    },
  }),
  rule('spec', 'nonce-reused', {
    title: 'a nonce is refused the second time, also in another request',
    covers: ['auth.nonce', 'auth.failed'],
    async check(service) {
      const { caller } = service;
      const nonce = freshToken();
      expectStatus(await caller.call({ method: 'GET', path: '/credits', nonce }), 200);
      for (const path of ['/credits', '/uploads']) {
        const answer = await caller.call({ method: 'GET', path, nonce });
        expectProblem(service, answer, 401, 'AUTHENTICATION_FAILED');
      }
    },
  }),
  rule('spec', 'request-replayed', {
    title: 'a request that is sent again byte by byte is refused',
    covers: ['auth.nonce', 'auth.failed'],
    async check(service) {
      const signed = service.caller.sign({ method: 'GET', path: '/credits' });
      expectStatus(await send(signed), 200);
      expectProblem(service, await send(signed), 401, 'AUTHENTICATION_FAILED');
    },
  }),
  rule('spec', 'nonce-at-once', {
    title: 'of twenty requests with one nonce at the same time one is accepted',
    covers: ['auth.nonce', 'auth.failed'],
    async check(service) {
      const signed = service.caller.sign({ method: 'GET', path: '/credits' });
      const answers = await Promise.all(Array.from({ length: 20 }, () => send(signed)));
      for (const answer of answers) expectStatus(answer, 200, 401);
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    },
  }),
  rule('spec', 'nonce-of-other-key', {
    title: 'a nonce that another key used is accepted, once',
    covers: ['auth.nonce', 'limit.nonce-window'],
    needs: ['otherKey'],
    async check(service) {
      const nonce = freshToken();
      for (const caller of [service.caller, otherCaller(service)]) {
        expectStatus(await caller.call({ method: 'GET', path: '/credits', nonce }), 200);
        expectProblem(service, await caller.call({ method: 'GET', path: '/credits', nonce }), 401);
      }
    },
  }),
  rule('contract', 'nonce-of-refused', {
    title: 'a request with a wrong signature does not use up its nonce',
    covers: ['auth.nonce'],
    async check(service) {
      const { key, secret } = service.caller.credentials;
      const nonce = freshToken();
      const stranger = service.callerFor({ key, secret: `${secret}x` });
      expectProblem(service, await stranger.call({ method: 'GET', path: '/credits', nonce }), 401);
      expectStatus(await service.caller.call({ method: 'GET', path: '/credits', nonce }), 200);
    },
  }),
  rule('contract', 'nonce-window', {
    title: 'a nonce is remembered for ten minutes, and free again a second later',
    covers: ['limit.nonce-window', 'auth.nonce'],
    needs: ['clock'],
    async check(original) {
      const service = await adminOf(original).open();
      await adminOf(service).freeze();
      const nonce = freshToken();
      const ask = () => service.caller.call({ method: 'GET', path: '/credits', nonce });
      expectStatus(await ask(), 200);
      await adminOf(service).advance(600 * SECOND_MS - SECOND_MS);
      expectProblem(service, await ask(), 401, 'AUTHENTICATION_FAILED');
      await adminOf(service).advance(2 * SECOND_MS);
      expectStatus(await ask(), 200);
    },
  }),
];
