/** The body of every refusal. */
import assert from 'node:assert/strict';
import { expectProblem, expectStatus, headerOf, NAMED_CODES, REQUEST_ID } from '../expect/answer.ts';
import { KINDS, UNKNOWN_ID } from '../operations.ts';
import { callWithWrongSignature } from '../prepare/operations.ts';
import { goodSubtitleFile } from '../prepare/subtitles.ts';
import { reservationOf, reserve } from '../prepare/uploads.ts';
import { type Rule, section } from '../rule.ts';
import { adminOf, otherCaller, shared } from '../service.ts';
import { freshToken } from '../wire/caller.ts';
import type { Incoming } from '../wire/exchange.ts';
import { asObject, booleanAt, listAt, numberAt, textAt } from '../wire/json.ts';

const rule = section('errors');

/** Nobody but the sender is to read what is in a query. */
const SECRET = 'a-secret-of-the-query';

/** Several kinds of refusals, created once: 400 in a query and in a body, 401, 404, 409, 400 for a repeated parameter. */
const refusals = shared(async (service): Promise<readonly Incoming[]> => {
  const { caller } = service;
  const key = freshToken();
  const body = reservationOf(goodSubtitleFile(service));
  await caller.post('/uploads', body, key);
  return [
    await caller.get('/uploads', [['cursor', SECRET]]),
    await caller.call({ method: 'POST', path: '/uploads', body: Buffer.from('{"broken') }),
    await callWithWrongSignature(service, { method: 'GET', path: '/credits' }),
    await caller.get(`/dubbings/${UNKNOWN_ID}`),
    await caller.post('/uploads', { ...body, file_name: 'another.srt' }, key),
    await caller.get('/uploads', [
      ['limit', '5'],
      ['limit', '5'],
    ]),
  ];
});

const BROKEN_BODIES = [
  ...['', '{', '[]', 'null', '"text"', '7', '{"a":1}{"b":2}', '{"a":NaN}'],
  '['.repeat(200_000),
  '{"__proto__":{"purpose":"source_video"}}',
];

const STATUSES = [400, 400, 401, 404, 409, 400];

export const ERROR_RULES: readonly Rule[] = [
  rule('spec', 'members', {
    title: 'a refusal is a problem document with all members, of which each says what it should',
    covers: [
      'problem.content-type',
      'problem.type',
      'problem.title',
      'problem.status',
      'problem.detail',
      'problem.instance',
      'problem.code',
      'problem.request-id',
      'problem.retryable',
      'problem.decides',
    ],
    async check(service) {
      for (const [at, answer] of (await refusals(service)).entries()) {
        expectStatus(answer, STATUSES[at] ?? 0);
        assert.match(headerOf(answer, 'Content-Type'), /^application\/problem\+json\s*(;|$)/);
        const code = textAt(answer.json, 'code');
        assert.match(code, /^[A-Z][A-Z0-9_]+$/);
        assert.equal(NAMED_CODES[code] ?? answer.status, answer.status, code);
        const { pathname, protocol } = new URL(textAt(answer.json, 'type'));
        assert.match(protocol, /^https?:$/);
        assert.ok(pathname.endsWith(`/errors/${code.toLowerCase()}`), pathname);
        const title = textAt(answer.json, 'title');
        // A short title fits on one line.
        assert.ok(title.trim() !== '' && title.length <= 120 && !title.includes('\n'), title);
        assert.equal(numberAt(answer.json, 'status'), answer.status);
        assert.notEqual(textAt(answer.json, 'detail').trim(), '');
        assert.equal(textAt(answer.json, 'instance'), answer.target.split('?')[0]);
        const id = textAt(answer.json, 'request_id');
        assert.match(id, REQUEST_ID);
        assert.equal(headerOf(answer, 'X-Request-ID'), id);
        // Another attempt cannot help with any of them.
        assert.equal(booleanAt(answer.json, 'retryable'), false);
      }
    },
  }),
  rule('contract', 'query-private', {
    title: 'a refusal does not repeat the query',
    covers: ['problem.instance'],
    async check(service) {
      for (const { bytes } of await refusals(service)) assert.ok(!bytes.includes(SECRET), bytes.toString());
    },
  }),
  rule('contract', 'fields', {
    title: 'a 400 lists every invalid field in errors, each with a pointer and a detail',
    covers: ['error.INVALID_REQUEST', 'problem.decides'],
    async check(service) {
      const body = {
        ...reservationOf(goodSubtitleFile(service)),
        purpose: 'thumbnail',
        size_bytes: 'many',
        extra: 1,
      };
      const answer = await service.caller.post('/uploads', body);
      expectProblem(service, answer, 400, 'INVALID_REQUEST');
      const pointers = listAt(answer.json, 'errors').map((error) => {
        assert.notEqual(textAt(error, 'detail'), '');
        return textAt(error, 'pointer');
      });
      assert.deepEqual(pointers.toSorted(), ['/extra', '/purpose', '/size_bytes']);
      const listed = await service.caller.get('/uploads', [
        ['limit', '0'],
        ['colour', 'red'],
      ]);
      const names = listAt(listed.json, 'errors').map((error) => textAt(error, 'pointer'));
      assert.deepEqual(names.toSorted(), ['colour', 'limit']);
    },
  }),
  rule('spec', 'broken-bodies', {
    title: 'a body that is not a JSON object is refused',
    covers: ['error.INVALID_REQUEST', 'endpoint.json'],
    async check(service) {
      for (const path of ['/uploads', KINDS.dubbing.path]) {
        for (const text of BROKEN_BODIES) {
          const answer = await service.caller.call({ method: 'POST', path, body: Buffer.from(text) });
          expectProblem(service, answer, 400, 'INVALID_REQUEST');
        }
      }
    },
  }),
  rule('contract', 'not-utf-8', {
    title: 'a body that is not UTF-8 is refused',
    covers: ['error.INVALID_REQUEST', 'endpoint.json'],
    async check(service) {
      const text = JSON.stringify({ ...reservationOf(goodSubtitleFile(service)), file_name: 'é.srt' });
      const answer = await service.caller.call({
        method: 'POST',
        path: '/uploads',
        body: Buffer.from(text, 'latin1'),
      });
      expectProblem(service, answer, 400, 'INVALID_REQUEST');
    },
  }),
  rule('contract', 'not-found-alike', {
    title: 'foreign, unknown and malformed ids get the same 404',
    covers: ['service.own-records', 'path.ids', 'error.open-codes'],
    needs: ['otherKey'],
    async check(service) {
      const { id } = await reserve(service.caller, goodSubtitleFile(service));
      const other = otherCaller(service);
      const unknown = `${id.slice(0, -4)}0000`;
      const bodies: unknown[] = [];
      for (const each of [id, unknown, 'malformed', 'x'.repeat(500), '%00', '%F0%9F%8E%AC']) {
        const answer = await other.get(`/uploads/${each}`);
        expectProblem(service, answer, 404, 'RESOURCE_NOT_FOUND');
        bodies.push({ ...asObject(answer.json), instance: '', request_id: '' });
      }
      for (const body of bodies) assert.deepEqual(body, bodies[0]);
    },
  }),
  rule('contract', 'retry-after', {
    title: 'a 429 for too many requests is retryable, and the request is accepted after Retry-After',
    covers: ['error.RATE_LIMIT_EXCEEDED', 'problem.decides', 'limit.rate'],
    needs: ['account', 'clock'],
    async check(original) {
      const service = await adminOf(original).open({ requests: 1 });
      const { caller } = service;
      expectStatus(await caller.get('/credits'), 200);
      const answer = await caller.get('/credits');
      expectProblem(service, answer, 429, 'RATE_LIMIT_EXCEEDED');
      assert.equal(booleanAt(answer.json, 'retryable'), true);
      const seconds = Number(headerOf(answer, 'Retry-After'));
      assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 3600, `Retry-After is ${seconds}`);
      await adminOf(service).advance(seconds * 1000);
      expectStatus(await caller.get('/credits'), 200);
    },
  }),
  rule('contract', 'rate-headers', {
    title: 'answers state in RateLimit-Policy and RateLimit what remains',
    covers: ['limit.rate'],
    async check({ caller }) {
      const [first, second] = [await caller.get('/credits'), await caller.get('/credits')];
      assert.match(headerOf(first, 'RateLimit-Policy'), /^"[a-z]+";q=\d+;w=\d+$/);
      const left = (answer: Incoming) => Number(/;r=(\d+);t=\d+$/.exec(headerOf(answer, 'RateLimit'))?.[1]);
      assert.equal(left(second), left(first) - 1);
    },
  }),
];
