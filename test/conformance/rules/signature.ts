/** The parts of a request that the signature covers: a change after signing is refused. */
import assert from 'node:assert/strict';
import { expectProblem, expectStatus } from '../expect/answer.ts';
import { UNKNOWN_ID } from '../operations.ts';
import { WRONG_SIGNATURE } from '../prepare/operations.ts';
import { goodSubtitleFile } from '../prepare/subtitles.ts';
import { reservationOf } from '../prepare/uploads.ts';
import { type Rule, section } from '../rule.ts';
import type { SentenceId } from '../sentences.ts';
import type { ServiceUnderTest } from '../service.ts';
import { freshToken, type HeaderNames } from '../wire/caller.ts';
import { type Outgoing, send } from '../wire/exchange.ts';
import { asObject, numberAt, textAt } from '../wire/json.ts';
import { signatureOf } from '../wire/sign.ts';

const rule = section('authentication');

/** Sends a request that is changed after it was signed. */
function tampered(
  name: string,
  what: string,
  sentence: SentenceId,
  change: (signed: Outgoing, names: HeaderNames, service: ServiceUnderTest) => Partial<Outgoing>,
): Rule {
  return rule('spec', `${name}-tampered`, {
    title: `a request whose ${what} was changed after signing is refused`,
    covers: ['auth.canonical-lines', 'auth.failed', sentence],
    async check(service) {
      const { caller } = service;
      const parts = { method: 'POST', path: '/uploads', body: reservationOf(goodSubtitleFile(service)) };
      expectStatus(await caller.call(parts), 201);
      const signed = caller.sign(parts);
      const answer = await send({ ...signed, ...change(signed, caller.names, service) });
      expectProblem(service, answer, 401, 'AUTHENTICATION_FAILED');
    },
  });
}

export const SIGNATURE_RULES: readonly Rule[] = [
  rule('spec', 'method-tampered', {
    title: 'a request whose method was changed after signing is refused',
    covers: ['auth.canonical-lines', 'auth.failed'],
    async check(service) {
      const { caller } = service;
      const path = `/dubbings/${UNKNOWN_ID}`;
      expectProblem(service, await caller.get(path), 404);
      const headers = { 'Idempotency-Key': freshToken() };
      const signed = caller.sign({ method: 'GET', path, headers });
      expectProblem(service, await send({ ...signed, method: 'DELETE' }), 401, 'AUTHENTICATION_FAILED');
    },
  }),
  tampered('path', 'path', 'auth.signature', ({ target }) => ({
    target: target.replace('/uploads', '/dubbings'),
  })),
  tampered('query', 'query', 'auth.signature', ({ target }) => ({ target: `${target}?limit=1` })),
  tampered('body', 'body', 'auth.signature', ({ body }) => ({
    // One more space: the same JSON, but not the signed bytes.
    body: Buffer.concat([body ?? Buffer.alloc(0), Buffer.from(' ')]),
  })),
  tampered('timestamp', 'timestamp', 'auth.timestamp', ({ headers }, names) => ({
    headers: { ...headers, [names.timestamp]: String(Number(headers[names.timestamp]) - 1) },
  })),
  tampered('nonce', 'nonce', 'auth.nonce', ({ headers }, names) => ({
    headers: { ...headers, [names.nonce]: freshToken() },
  })),
  tampered('key', 'key', 'auth.key', ({ headers }, names) => ({
    headers: { ...headers, [names.key]: `${String(headers[names.key])}x` },
  })),
  tampered('signature', 'signature', 'auth.hmac', ({ headers }, names) => ({
    headers: { ...headers, [names.signature]: WRONG_SIGNATURE },
  })),
  rule('spec', 'other-secret', {
    title: 'a signature keyed with another secret is refused',
    covers: ['auth.hmac', 'auth.failed'],
    async check(service) {
      const { key, secret } = service.caller.credentials;
      const stranger = service.callerFor({ key, secret: `${secret}x` });
      expectProblem(service, await stranger.get('/credits'), 401, 'AUTHENTICATION_FAILED');
    },
  }),
  rule('spec', 'upper-case-signature', {
    title: 'a signature in upper-case hexadecimal is refused',
    covers: ['auth.signature'],
    async check(service) {
      const { caller } = service;
      const signed = caller.sign({ method: 'GET', path: '/credits' });
      const { signature } = caller.names;
      const headers = { ...signed.headers, [signature]: String(signed.headers[signature]).toUpperCase() };
      const answer = await send({ ...signed, headers });
      expectProblem(service, answer, service.strict ? 400 : [400, 401]);
    },
  }),
  rule('spec', 'version-in-path', {
    title: 'a signature over the path without /v1 is refused',
    covers: ['auth.version-in-path', 'version.path', 'base.version-suffix'],
    async check(service) {
      const { caller } = service;
      assert.match(service.basePath, /\/v1$/, 'the base address ends in /v1');
      expectStatus(await caller.get('/credits'), 200);
      const signed = caller.sign({ method: 'GET', path: '/credits' });
      const { names, credentials } = caller;
      const signature = signatureOf(credentials.secret, {
        method: 'GET',
        target: signed.target.replace('/v1/', '/'),
        timestamp: String(signed.headers[names.timestamp]),
        nonce: String(signed.headers[names.nonce]),
        body: Buffer.alloc(0),
      });
      const answer = await send({ ...signed, headers: { ...signed.headers, [names.signature]: signature } });
      expectProblem(service, answer, 401, 'AUTHENTICATION_FAILED');
    },
  }),
  rule('contract', 'unknown-key', {
    title: 'an unknown key and a wrong signature get the same answer',
    covers: ['auth.failed', 'auth.key'],
    async check(service) {
      const { key, secret } = service.caller.credentials;
      const unknown = await service.callerFor({ key: `${key}x`, secret }).get('/credits');
      const wrong = await service.callerFor({ key, secret: `${secret}x` }).get('/credits');
      expectProblem(service, unknown, 401, 'AUTHENTICATION_FAILED');
      const blank = ({ json }: typeof wrong) => ({
        ...asObject(json),
        request_id: textAt(json, 'request_id').length,
      });
      assert.deepEqual(blank(unknown), blank(wrong));
      assert.equal(numberAt(unknown.json, 'status'), 401);
    },
  }),
  rule('contract', 'before-everything', {
    title: 'a wrong signature is refused before the query, the body and the id are checked',
    covers: ['auth.failed'],
    async check(service) {
      const { key, secret } = service.caller.credentials;
      const stranger = service.callerFor({ key, secret: `${secret}x` });
      const answers = [
        await stranger.get('/uploads', [['no_such_parameter', '1']]),
        await stranger.get('/uploads/no-such-upload'),
        await stranger.post('/uploads', { purpose: 'thumbnail' }),
        await stranger.call({ method: 'POST', path: '/uploads', body: Buffer.from('{"broken') }),
      ];
      for (const answer of answers) expectProblem(service, answer, 401, 'AUTHENTICATION_FAILED');
    },
  }),
];
