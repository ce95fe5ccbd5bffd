/** One Idempotency-Key stands for one request. */
import assert from 'node:assert/strict';
import { expectProblem, expectStatus, headerOf } from '../expect/answer.ts';
import { KINDS } from '../operations.ts';
import { create, createdJob, startLasting } from '../prepare/jobs.ts';
import { walk } from '../prepare/lists.ts';
import { goodSubtitleFile } from '../prepare/subtitles.ts';
import { complete, reservationOf, store } from '../prepare/uploads.ts';
import { type Rule, section } from '../rule.ts';
import { adminOf, otherCaller, type ServiceUnderTest } from '../service.ts';
import { freshToken } from '../wire/caller.ts';
import type { Incoming } from '../wire/exchange.ts';
import { textAt } from '../wire/json.ts';

const rule = section('idempotency');

function reserveUnder(service: ServiceUnderTest, idempotencyKey: string, extra = {}): Promise<Incoming> {
  const body = { ...reservationOf(goodSubtitleFile(service)), ...extra };
  return service.caller.post('/uploads', body, idempotencyKey);
}

const DAY_MS = 24 * 60 * 60_000;

export const IDEMPOTENCY_RULES: readonly Rule[] = [
  rule('spec', 'first', {
    title: 'the first answer says Idempotency-Replayed: false',
    covers: ['header.replayed'],
    async check(service) {
      const answer = await reserveUnder(service, freshToken());
      expectStatus(answer, 201);
      assert.equal(headerOf(answer, 'Idempotency-Replayed'), 'false');
    },
  }),
  rule('spec', 'replay-of-upload', {
    title: 'the same reservation under the same key is the same upload, replayed',
    covers: ['header.idempotency-intent', 'header.replayed'],
    async check(service) {
      const key = freshToken();
      const first = await reserveUnder(service, key);
      const second = await reserveUnder(service, key);
      expectStatus(second, 201);
      assert.equal(headerOf(second, 'Idempotency-Replayed'), 'true');
      assert.equal(textAt(second.json, 'id'), textAt(first.json, 'id'));
    },
  }),
  rule('spec', 'replay-of-job', {
    title: 'the same create request under the same key is the same job, replayed',
    covers: ['header.idempotency-intent', 'header.replayed'],
    needs: ['jobs'],
    async check(service) {
      const { kind, id, body, idempotencyKey } = await createdJob(service, 'subtitle_translation');
      const again = await service.caller.post(KINDS[kind].path, body, idempotencyKey);
      expectStatus(again, 202);
      assert.equal(headerOf(again, 'Idempotency-Replayed'), 'true');
      assert.equal(textAt(again.json, 'id'), id);
    },
  }),
  rule('spec', 'replay-of-cancel', {
    title: 'the same cancel under the same key answers 202 again, replayed',
    covers: ['header.replayed', 'behavior.cancel'],
    needs: ['jobs'],
    async check(original) {
      const { service, path } = await startLasting(original, 'subtitle_translation');
      const key = freshToken();
      const first = await service.caller.remove(path, key);
      expectStatus(first, 202);
      assert.equal(headerOf(first, 'Idempotency-Replayed'), 'false');
      const again = await service.caller.remove(path, key);
      expectStatus(again, 202);
      assert.equal(headerOf(again, 'Idempotency-Replayed'), 'true');
      assert.equal(textAt(again.json, 'status'), 'cancelled');
    },
  }),
  rule('spec', 'other-body', {
    title: 'another body under a used key is refused',
    covers: ['error.IDEMPOTENCY_KEY_REUSED', 'header.idempotency-intent'],
    async check(service) {
      const key = freshToken();
      await reserveUnder(service, key);
      const answer = await reserveUnder(service, key, { file_name: 'another.srt' });
      expectProblem(service, answer, 409, 'IDEMPOTENCY_KEY_REUSED');
    },
  }),
  rule('spec', 'other-resource', {
    title: 'the same body for another resource under a used key is refused',
    covers: ['error.IDEMPOTENCY_KEY_REUSED', 'header.idempotency-intent'],
    async check(service) {
      const key = freshToken();
      const [first, second] = [
        await store(service.caller, goodSubtitleFile(service)),
        await store(service.caller, goodSubtitleFile(service)),
      ];
      expectStatus(await complete(service.caller, first.id, first.etag, key), 202);
      const answer = await complete(service.caller, second.id, first.etag, key);
      expectProblem(service, answer, 409, 'IDEMPOTENCY_KEY_REUSED');
    },
  }),
  rule('spec', 'other-operation', {
    title: 'another operation under a used key is refused',
    covers: ['error.IDEMPOTENCY_KEY_REUSED', 'header.idempotency-intent'],
    needs: ['jobs'],
    async check(original) {
      const { service, path, idempotencyKey } = await startLasting(original, 'dubbing');
      const answer = await service.caller.remove(path, idempotencyKey);
      expectProblem(service, answer, 409, 'IDEMPOTENCY_KEY_REUSED');
      expectStatus(await service.caller.remove(path), 202);
    },
  }),
  rule('contract', 'member-order', {
    title: 'the order of members in a body does not make it a different request',
    covers: ['header.idempotency-intent'],
    async check(service) {
      const key = freshToken();
      const body = reservationOf(goodSubtitleFile(service));
      const first = await service.caller.post('/uploads', body, key);
      const turned = Object.fromEntries(Object.entries(body).toReversed());
      const again = await service.caller.post('/uploads', turned, key);
      expectStatus(again, 201);
      assert.equal(textAt(again.json, 'id'), textAt(first.json, 'id'));
    },
  }),
  rule('contract', 'parallel', {
    title: 'twenty equal requests at the same time make one job',
    covers: ['header.idempotency-intent', 'header.replayed'],
    needs: ['jobs'],
    async check(service) {
      const { body } = await createdJob(service, 'subtitle_translation');
      const reference = freshToken();
      const key = freshToken();
      const ask = () =>
        service.caller.post(KINDS.subtitle_translation.path, { ...body, client_reference: reference }, key);
      const answers = await Promise.all(Array.from({ length: 20 }, ask));
      for (const answer of answers) expectStatus(answer, 202);
      assert.equal(new Set(answers.map(({ json }) => textAt(json, 'id'))).size, 1, 'one id');
      const fresh = answers.filter((answer) => headerOf(answer, 'Idempotency-Replayed') === 'false');
      assert.equal(fresh.length, 1, 'one answer is the first');
      const listed = await walk(service.caller, KINDS.subtitle_translation.path, [
        ['client_reference', reference],
      ]);
      assert.equal(listed.length, 1, 'one record');
    },
  }),
  rule('contract', 'refused-not-consumed', {
    title: 'a refused request does not use up its key',
    covers: ['header.idempotency-intent'],
    async check(service) {
      const key = freshToken();
      expectProblem(service, await reserveUnder(service, key, { purpose: 'thumbnail' }), 400);
      expectProblem(service, await reserveUnder(service, key, { size_bytes: 10 * 1024 ** 2 }), 413);
      const answer = await reserveUnder(service, key);
      expectStatus(answer, 201);
      assert.equal(headerOf(answer, 'Idempotency-Replayed'), 'false');
    },
  }),
  rule('contract', 'scope', {
    title: 'another API key may use the same Idempotency-Key',
    covers: ['header.idempotency-intent'],
    needs: ['otherKey'],
    async check(service) {
      const key = freshToken();
      const first = await reserveUnder(service, key);
      const body = reservationOf(goodSubtitleFile(service), 1);
      const second = await otherCaller(service).post('/uploads', body, key);
      expectStatus(second, 201);
      assert.notEqual(textAt(second.json, 'id'), textAt(first.json, 'id'));
    },
  }),
  rule('contract', 'as-it-is-now', {
    title: 'a replay shows the current resource',
    covers: ['header.replayed'],
    needs: ['jobs'],
    async check(original) {
      const { service, path, body, idempotencyKey, kind } = await startLasting(original, 'dubbing');
      await service.caller.remove(path);
      const again = await service.caller.post(KINDS[kind].path, body, idempotencyKey);
      expectStatus(again, 202);
      assert.equal(textAt(again.json, 'status'), 'cancelled');
    },
  }),
  rule('contract', 'lifetime', {
    title: 'a key is remembered for six days',
    covers: ['header.idempotency-intent'],
    needs: ['jobs', 'clock', 'account'],
    async check(original) {
      const service = await adminOf(original).open();
      const { id, body, kind, idempotencyKey } = await create(service, 'subtitle_translation');
      await adminOf(service).advance(6 * DAY_MS);
      const again = await service.caller.post(KINDS[kind].path, body, idempotencyKey);
      expectStatus(again, 202);
      assert.equal(textAt(again.json, 'id'), id);
    },
  }),
  rule('contract', 'forgotten', {
    title: 'after seven days a key is unused again',
    covers: ['header.idempotency-intent'],
    needs: ['jobs', 'clock', 'account'],
    async check(original) {
      const service = await adminOf(original).open();
      const { id, body, kind, idempotencyKey } = await create(service, 'subtitle_translation');
      await adminOf(service).advance(7 * DAY_MS + 1000);
      const again = await service.caller.post(KINDS[kind].path, body, idempotencyKey);
      expectStatus(again, 202);
      assert.equal(headerOf(again, 'Idempotency-Replayed'), 'false');
      assert.notEqual(textAt(again.json, 'id'), id);
    },
  }),
];
