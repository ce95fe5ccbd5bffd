/** Completions: start the validation of the uploaded bytes. */
import assert from 'node:assert/strict';
import { expectOneOf, expectProblem, expectStatus } from '../expect/answer.ts';
import { leadsElsewhere } from '../prepare/assets.ts';
import { JOB_LIST_PATHS, readPage } from '../prepare/lists.ts';
import { goodSubtitleFile } from '../prepare/subtitles.ts';
import {
  complete,
  directUploadOf,
  readySubtitle,
  reserve,
  sendBytes,
  store,
  validate,
} from '../prepare/uploads.ts';
import { type Rule, section } from '../rule.ts';
import type { ServiceUnderTest } from '../service.ts';
import { freshToken } from '../wire/caller.ts';
import { listAt, textAt, valueAt } from '../wire/json.ts';

const rule = section('completions');

/** Returns the ids of the newest jobs of every kind. */
async function newestJobs(service: ServiceUnderTest): Promise<string> {
  const pages = [];
  for (const path of JOB_LIST_PATHS) pages.push(await readPage(service.caller, path, [['limit', '1']]));
  return JSON.stringify(pages.map(({ json }) => listAt(json, 'data').map((item) => textAt(item, 'id'))));
}

export const COMPLETION_RULES: readonly Rule[] = [
  rule('spec', 'validating', {
    title: 'a completion answers 202 with the upload in validating, which becomes ready',
    covers: ['behavior.completion', 'upload-transition.completed', 'behavior.direct-upload'],
    async check(service) {
      const { id, etag } = await store(service.caller, goodSubtitleFile(service));
      const answer = await complete(service.caller, id, etag);
      expectStatus(answer, 202);
      assert.equal(textAt(answer.json, 'id'), id);
      expectOneOf(valueAt(answer.json, 'status'), ['validating', 'ready'], 'status');
      const last = await service.until(
        'the upload to become ready',
        () => service.caller.get(`/uploads/${id}`),
        ({ json }) => textAt(json, 'status') !== 'validating',
      );
      assert.equal(textAt(last.json, 'status'), 'ready');
    },
  }),
  rule('spec', 'no-job', {
    title: 'a completion creates no job',
    covers: ['behavior.completion-no-job', 'upload-transition.completed'],
    async check(service) {
      const before = await newestJobs(service);
      const { last } = await validate(service, goodSubtitleFile(service));
      assert.equal(textAt(last.json, 'status'), 'ready');
      assert.equal(await newestJobs(service), before);
    },
  }),
  rule('spec', 'of-ready', {
    title: 'another completion of a ready upload answers 200, and it stays ready',
    covers: ['upload-transition.ready-again', 'behavior.completion'],
    async check(service) {
      const { id, etag } = await readySubtitle(service);
      const answer = await complete(service.caller, id, etag);
      expectStatus(answer, 200);
      assert.equal(textAt(answer.json, 'status'), 'ready');
    },
  }),
  rule('contract', 'replayed', {
    title: 'a completion replayed after validation answers the first status',
    covers: ['header.replayed', 'behavior.completion'],
    async check(service) {
      const { id, etag } = await store(service.caller, goodSubtitleFile(service));
      const key = freshToken();
      expectStatus(await complete(service.caller, id, etag, key), 202);
      await service.until(
        'the upload to become ready',
        () => service.caller.get(`/uploads/${id}`),
        ({ json }) => textAt(json, 'status') === 'ready',
      );
      const again = await complete(service.caller, id, etag, key);
      expectStatus(again, 202);
      assert.equal(textAt(again.json, 'status'), 'ready');
    },
  }),
  rule('contract', 'before-bytes', {
    title: 'a completion before the bytes arrived is refused, and the upload continues to wait',
    covers: ['error.open-codes', 'behavior.direct-upload'],
    async check(service) {
      const { id } = await reserve(service.caller, goodSubtitleFile(service));
      expectProblem(
        service,
        await complete(service.caller, id, 'a'.repeat(32)),
        409,
        'UPLOAD_STATE_CONFLICT',
      );
      const after = await service.caller.get(`/uploads/${id}`);
      assert.equal(textAt(after.json, 'status'), 'waiting_for_upload');
    },
  }),
  rule('contract', 'wrong-etag', {
    title: 'a completion with another ETag is refused, and the right one is accepted afterwards',
    covers: ['error.open-codes', 'shape.upload-requests'],
    async check(service) {
      const { id, etag } = await store(service.caller, goodSubtitleFile(service));
      expectProblem(service, await complete(service.caller, id, 'a'.repeat(32)), 409, 'UPLOAD_ETAG_MISMATCH');
      expectStatus(await complete(service.caller, id, etag), 202);
    },
  }),
  rule('contract', 'wrong-etag-of-ready', {
    title: 'a completion of a ready upload with another ETag is refused, and it stays ready',
    covers: ['error.open-codes', 'upload-transition.ready-again'],
    async check(service) {
      const { id } = await readySubtitle(service);
      expectProblem(service, await complete(service.caller, id, 'a'.repeat(32)), 409, 'UPLOAD_ETAG_MISMATCH');
      assert.equal(textAt((await service.caller.get(`/uploads/${id}`)).json, 'status'), 'ready');
    },
  }),
  rule('contract', 'malformed-id', {
    title: 'a completion of a malformed id is refused with 400',
    covers: ['error.INVALID_REQUEST', 'path.ids'],
    async check(service) {
      for (const id of ['malformed', 'upl_', `dub_${'0'.repeat(26)}`, '%F0%9F%8E%AC']) {
        expectProblem(service, await complete(service.caller, id, 'a'.repeat(32)), 400, 'INVALID_REQUEST');
      }
    },
  }),
  rule('contract', 'etag-quotes', {
    title: 'the quotes of an ETag are optional',
    covers: ['shape.upload-requests'],
    async check(service) {
      for (const write of [(etag: string) => `"${etag}"`, (etag: string) => etag]) {
        const { id, etag } = await store(service.caller, goodSubtitleFile(service));
        expectStatus(await complete(service.caller, id, write(etag.replaceAll('"', ''))), 202);
      }
    },
  }),
  rule('contract', 'second-bytes', {
    title: 'bytes may be sent again until the completion, and not after it',
    covers: ['behavior.direct-upload'],
    async check(service) {
      const file = goodSubtitleFile(service);
      const { answer, id, etag } = await store(service.caller, file);
      const target = directUploadOf(answer);
      expectStatus(await sendBytes(target, file.bytes), 200);
      expectStatus(await complete(service.caller, id, etag), 202);
      // Other storage does not know of the completion; the service then works with the bytes of that time only.
      if (!leadsElsewhere(service, target.url)) expectStatus(await sendBytes(target, file.bytes), 403);
    },
  }),
];
