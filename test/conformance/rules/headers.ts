/** Headers of requests and answers, except those of authentication and idempotency. */
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { expectProblem, expectStatus, headerOf, REQUEST_ID } from '../expect/answer.ts';
import { RESOURCE_OPERATIONS, UNKNOWN_ID } from '../operations.ts';
import { leadsElsewhere } from '../prepare/assets.ts';
import { createdJob } from '../prepare/jobs.ts';
import { LIST_PATHS } from '../prepare/lists.ts';
import { bareCall } from '../prepare/operations.ts';
import { goodSubtitleFile } from '../prepare/subtitles.ts';
import { directUploadOf, reservationOf, reserve, sendBytes } from '../prepare/uploads.ts';
import { type Rule, section } from '../rule.ts';
import type { ServiceUnderTest } from '../service.ts';
import type { Incoming } from '../wire/exchange.ts';
import { textAt } from '../wire/json.ts';

const rule = section('headers');

function reserveTraced(service: ServiceUnderTest, clientRequestId: string): Promise<Incoming> {
  return service.caller.call({
    method: 'POST',
    path: '/uploads',
    body: reservationOf(goodSubtitleFile(service)),
    headers: { 'X-Client-Request-ID': clientRequestId },
  });
}

/** Checks that Location is a relative URL at which the resource can be read. */
async function expectLocation(service: ServiceUnderTest, created: Incoming): Promise<void> {
  const location = headerOf(created, 'Location');
  assert.match(location, /^\/[^/]/, 'Location is relative to the origin');
  const { pathname } = new URL(location, service.origin);
  assert.ok(pathname.startsWith(`${service.basePath}/`), `Location is ${location}`);
  const answer = await service.caller.get(pathname.slice(service.basePath.length));
  expectStatus(answer, 200);
  assert.equal(textAt(answer.json, 'id'), textAt(created.json, 'id'));
}

export const HEADER_RULES: readonly Rule[] = [
  rule('spec', 'request-id', {
    title: 'answers of POST, GET single and DELETE carry X-Request-ID, also when they refuse',
    covers: ['header.request-id'],
    async check(service) {
      for (const operation of RESOURCE_OPERATIONS) {
        const answer = await service.caller.call(bareCall(operation));
        assert.match(headerOf(answer, 'X-Request-ID'), REQUEST_ID, operation.id);
      }
      const { answer } = await reserve(service.caller, goodSubtitleFile(service));
      assert.match(headerOf(answer, 'X-Request-ID'), REQUEST_ID);
    },
  }),
  rule('spec', 'request-id-fresh', {
    title: 'every answer has an X-Request-ID of its own',
    covers: ['header.request-id'],
    async check({ caller }) {
      const path = `/uploads/${UNKNOWN_ID}`;
      const [first, second] = [await caller.get(path), await caller.get(path)];
      assert.notEqual(headerOf(first, 'X-Request-ID'), headerOf(second, 'X-Request-ID'));
    },
  }),
  rule('spec', 'no-store', {
    title: 'credits and all lists say Cache-Control: no-store',
    covers: ['header.no-store'],
    async check({ caller }) {
      for (const path of ['/credits', ...LIST_PATHS]) {
        const answer = await caller.get(path);
        expectStatus(answer, 200);
        assert.equal(headerOf(answer, 'Cache-Control'), 'no-store', path);
      }
    },
  }),
  rule('spec', 'location-of-uploads', {
    title: 'createUpload returns the relative address of the upload in Location',
    covers: ['header.location'],
    async check(service) {
      await expectLocation(service, (await reserve(service.caller, goodSubtitleFile(service))).answer);
    },
  }),
  rule('spec', 'location-of-jobs', {
    title: 'a create request of a job returns its relative address in Location',
    covers: ['header.location'],
    needs: ['jobs'],
    async check(service) {
      await expectLocation(service, (await createdJob(service, 'dubbing')).answer);
    },
  }),
  rule('spec', 'client-request-id', {
    title: 'X-Client-Request-ID of 1 and of 128 characters is accepted',
    covers: ['header.client-request-id', 'limit.client-request-id'],
    async check(service) {
      for (const length of [1, 128]) expectStatus(await reserveTraced(service, 'x'.repeat(length)), 201);
      const parts = { method: 'GET', path: `/uploads/${UNKNOWN_ID}` };
      const read = await service.caller.call({
        ...parts,
        headers: { 'X-Client-Request-ID': 'y'.repeat(128) },
      });
      expectStatus(read, 404);
    },
  }),
  rule('spec', 'client-request-id-length', {
    title: 'X-Client-Request-ID of 129 characters is refused where 400 is declared',
    covers: ['header.client-request-id', 'limit.client-request-id'],
    async check(service) {
      expectProblem(service, await reserveTraced(service, 'x'.repeat(129)), 400, 'INVALID_REQUEST');
    },
  }),
  rule('contract', 'client-request-id-empty', {
    title: 'an empty X-Client-Request-ID is refused where 400 is declared',
    covers: ['header.client-request-id', 'limit.client-request-id'],
    async check(service) {
      expectProblem(service, await reserveTraced(service, ''), 400, 'INVALID_REQUEST');
    },
  }),
  rule('spec', 'client-request-id-elsewhere', {
    title: 'credits and lists ignore X-Client-Request-ID, however long it is',
    covers: ['header.client-request-id'],
    async check(service) {
      const tooLong = 'x'.repeat(129);
      expectProblem(service, await reserveTraced(service, tooLong), 400);
      for (const path of ['/credits', ...LIST_PATHS]) {
        const headers = { 'X-Client-Request-ID': tooLong };
        expectStatus(await service.caller.call({ method: 'GET', path, headers }), 200);
      }
    },
  }),
  rule('spec', 'client-request-id-traces-only', {
    title: 'two requests with one X-Client-Request-ID create two resources',
    covers: ['header.client-request-id-traces'],
    async check(service) {
      const first = await reserveTraced(service, 'one and the same');
      const second = await reserveTraced(service, 'one and the same');
      expectStatus(second, 201);
      assert.notEqual(textAt(first.json, 'id'), textAt(second.json, 'id'));
    },
  }),
  rule('spec', 'json', {
    title: 'answers are application/json',
    covers: ['endpoint.json'],
    async check(service) {
      const reserved = (await reserve(service.caller, goodSubtitleFile(service))).answer;
      const read = await service.caller.get('/credits');
      for (const answer of [reserved, read]) {
        assert.match(headerOf(answer, 'Content-Type'), /^application\/json\s*(;|$)/);
      }
    },
  }),
  rule('contract', 'json-only', {
    title: 'a body of another type answers 415',
    covers: ['endpoint.json'],
    async check(service) {
      const body = reservationOf(goodSubtitleFile(service));
      const post = (type: string) =>
        service.caller.call({ method: 'POST', path: '/uploads', body, headers: { 'Content-Type': type } });
      for (const type of ['text/plain', 'application/xml', 'application/json; charset=latin1']) {
        expectProblem(service, await post(type), 415, 'UNSUPPORTED_MEDIA_TYPE');
      }
      expectStatus(await post('application/json; charset=utf-8'), 201);
    },
  }),
  rule('contract', 'content-encoding', {
    title: 'a body with a Content-Encoding other than identity answers 415, at the direct-upload address too',
    covers: ['endpoint.json', 'error.open-codes'],
    async check(service) {
      const plain = Buffer.from(JSON.stringify(reservationOf(goodSubtitleFile(service))));
      const post = (body: Buffer, encoding: string) =>
        service.caller.call({
          method: 'POST',
          path: '/uploads',
          body,
          headers: { 'Content-Encoding': encoding },
        });
      for (const encoding of ['gzip', 'br', 'identity, gzip', 'x']) {
        const answer = await post(gzipSync(plain), encoding);
        expectProblem(service, answer, 415, 'UNSUPPORTED_MEDIA_TYPE');
        assert.equal(headerOf(answer, 'Accept-Encoding'), 'identity');
      }
      const created = await post(plain, 'Identity');
      expectStatus(created, 201);
      const target = directUploadOf(created);
      // Other storage keeps the header with the bytes.
      if (leadsElsewhere(service, target.url)) return;
      const put = (encoding: string) => {
        const headers = { ...target.headers, 'Content-Encoding': encoding };
        return sendBytes({ ...target, headers }, goodSubtitleFile(service).bytes);
      };
      expectStatus(await put('gzip'), 415);
      expectStatus(await put('identity'), 200);
    },
  }),
];
