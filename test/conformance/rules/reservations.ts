/** The fields of a reservation, and how its direct-upload URL works. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { expectProblem, expectStatus, headerOf } from '../expect/answer.ts';
import { KINDS } from '../operations.ts';
import { leadsElsewhere } from '../prepare/assets.ts';
import { bodyFor } from '../prepare/jobs.ts';
import { readPage } from '../prepare/lists.ts';
import { goodSubtitleFile, subtitleFile } from '../prepare/subtitles.ts';
import {
  complete,
  directUploadOf,
  readySubtitle,
  reservationOf,
  reserve,
  sendBytes,
} from '../prepare/uploads.ts';
import { type Rule, section } from '../rule.ts';
import { adminOf, type ServiceUnderTest } from '../service.ts';
import type { Incoming } from '../wire/exchange.ts';
import { listAt, textAt } from '../wire/json.ts';

const rule = section('reservations');

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

/** Requests a reservation of the valid subtitle file with other members. */
function reserveWith(
  service: ServiceUnderTest,
  changes: Readonly<Record<string, unknown>>,
): Promise<Incoming> {
  return service.caller.post('/uploads', { ...reservationOf(goodSubtitleFile(service)), ...changes });
}

function refusedBodies(
  name: string,
  title: string,
  changes: readonly Readonly<Record<string, unknown>>[],
): Rule {
  return rule('contract', name, {
    title,
    covers: ['shape.upload-requests', 'error.INVALID_REQUEST'],
    async check(service) {
      expectStatus(await reserveWith(service, {}), 201);
      for (const change of changes) {
        expectProblem(service, await reserveWith(service, change), 400, 'INVALID_REQUEST');
      }
    },
  });
}

export const RESERVATION_RULES: readonly Rule[] = [
  refusedBodies(
    'required',
    'a reservation without purpose, file_name, content_type or size_bytes is refused',
    ['purpose', 'file_name', 'content_type', 'size_bytes'].map((name) => ({ [name]: undefined })),
  ),
  refusedBodies('purpose', 'a purpose other than source_video and subtitle_file is refused', [
    { purpose: 'thumbnail' },
    { purpose: null },
    { purpose: 'Source_Video' },
  ]),
  refusedBodies('size', 'a size that is not a whole number above 0 is refused', [
    { size_bytes: 0 },
    { size_bytes: -1 },
    { size_bytes: 1.5 },
    { size_bytes: '10' },
  ]),
  refusedBodies('unknown-member', 'an unknown member is refused', [{ colour: 'red' }]),
  rule('spec', 'video-size', {
    title: 'a video of 1 GiB less one byte can be reserved, one of 1 GiB cannot',
    covers: ['limit.video-size', 'operation.createUpload'],
    async check(service) {
      const video = { purpose: 'source_video', file_name: 'a.mp4', content_type: 'video/mp4' };
      expectStatus(await reserveWith(service, { ...video, size_bytes: 1024 ** 3 - 1 }), 201);
      const refused = await reserveWith(service, { ...video, size_bytes: 1024 ** 3 });
      expectProblem(service, refused, service.strict ? 413 : [400, 413], 'CONTENT_TOO_LARGE');
    },
  }),
  rule('spec', 'subtitle-size', {
    title: 'a subtitle file of 10 MiB less one byte can be reserved, one of 10 MiB cannot',
    covers: ['limit.subtitle-size', 'operation.createUpload'],
    async check(service) {
      expectStatus(await reserveWith(service, { size_bytes: 10 * 1024 ** 2 - 1 }), 201);
      const refused = await reserveWith(service, { size_bytes: 10 * 1024 ** 2 });
      expectProblem(service, refused, service.strict ? 413 : [400, 413], 'CONTENT_TOO_LARGE');
    },
  }),
  rule('contract', 'reference-length', {
    title:
      'a client_reference of 1 and of 128 characters is accepted, an empty one and one of 129 is refused',
    covers: ['limit.client-reference', 'shape.upload-requests'],
    async check(service) {
      for (const reference of ['r', '集'.repeat(128)]) {
        expectStatus(await reserveWith(service, { client_reference: reference }), 201);
      }
      for (const reference of ['', 'r'.repeat(129)]) {
        const answer = await reserveWith(service, { client_reference: reference });
        expectProblem(service, answer, 400, 'INVALID_REQUEST');
      }
    },
  }),
  rule('contract', 'stored-etag', {
    title: 'the direct-upload address accepts the bytes without a key and answers with their MD5 as ETag',
    covers: ['behavior.direct-upload', 'shape.upload-requests'],
    async check(service) {
      const file = goodSubtitleFile(service);
      const { answer } = await reserve(service.caller, file);
      const stored = await sendBytes(directUploadOf(answer), file.bytes);
      expectStatus(stored, 200);
      assert.equal(headerOf(stored, 'ETag'), `"${createHash('md5').update(file.bytes).digest('hex')}"`);
    },
  }),
  rule('spec', 'other-size', {
    title: 'bytes of another size than reserved do not make a usable upload',
    covers: ['behavior.direct-upload'],
    async check(service) {
      const { answer, id } = await reserve(service.caller, goodSubtitleFile(service));
      const longer = Buffer.concat([goodSubtitleFile(service).bytes, Buffer.from('\n')]);
      const stored = await sendBytes(directUploadOf(answer), longer);
      if (service.strict) assert.ok(stored.status >= 400, `the bytes were taken with ${stored.status}`);
      const etag = createHash('md5').update(longer).digest('hex');
      await complete(service.caller, id, etag);
      const last = await service.until(
        'the validation to end',
        () => service.caller.get(`/uploads/${id}`),
        ({ json }) => textAt(json, 'status') !== 'validating',
      );
      assert.notEqual(textAt(last.json, 'status'), 'ready');
    },
  }),
  rule('contract', 'forged-address', {
    title: 'a direct-upload address that was changed, or is used with another method, accepts nothing',
    covers: ['behavior.direct-upload'],
    async check(service) {
      const file = goodSubtitleFile(service);
      const { answer } = await reserve(service.caller, file);
      const other = await reserve(service.caller, file);
      const target = directUploadOf(answer);
      const moved = target.url.replace(textAt(answer.json, 'id'), other.id);
      assert.notEqual(moved, target.url);
      expectStatus(await sendBytes({ ...target, url: moved }, file.bytes), 403);
      expectStatus(await sendBytes({ ...target, url: `${target.url}0` }, file.bytes), 400, 403);
      const isElsewhere = leadsElsewhere(service, target.url);
      const posted = await sendBytes({ ...target, method: 'POST' }, file.bytes);
      expectStatus(posted, 403, 405, ...(isElsewhere ? [400, 412, 501] : []));
      expectStatus(await sendBytes(target, file.bytes), 200);
    },
  }),
  rule('contract', 'lapse', {
    title: 'an upload without bytes expires after an hour: no bytes, no completion',
    covers: ['upload-transition.others', 'upload.status'],
    needs: ['clock'],
    async check(original) {
      const service = await adminOf(original).open();
      const file = goodSubtitleFile(service);
      const { id, answer } = await reserve(service.caller, file);
      await adminOf(service).advance(HOUR_MS + 1000);
      const lapsed = await service.caller.get(`/uploads/${id}`);
      assert.equal(textAt(lapsed.json, 'status'), 'expired');
      const target = directUploadOf(answer);
      // The clock of other storage cannot be moved.
      if (!leadsElsewhere(service, target.url)) expectStatus(await sendBytes(target, file.bytes), 403);
      expectProblem(
        service,
        await complete(service.caller, id, 'a'.repeat(32)),
        409,
        'UPLOAD_STATE_CONFLICT',
      );
    },
  }),
  rule('contract', 'ready-lapses', {
    title: 'a ready upload and its record are gone after seven days',
    covers: ['upload-transition.others', 'limit.retention', 'upload.only-ready'],
    needs: ['clock', 'jobs'],
    async check(original) {
      const service = await adminOf(original).open();
      const { id } = await readySubtitle(service);
      const body = { ...(await bodyFor(service, 'dubbing')), subtitle: { type: 'upload', upload_id: id } };
      await adminOf(service).advance(7 * DAY_MS - HOUR_MS);
      expectStatus(await service.caller.post(KINDS.dubbing.path, body), 202);
      await adminOf(service).advance(2 * HOUR_MS);
      expectProblem(service, await service.caller.get(`/uploads/${id}`), 404, 'RESOURCE_NOT_FOUND');
      assert.deepEqual(listAt((await readPage(service.caller, '/uploads')).json, 'data'), []);
      expectProblem(service, await service.caller.post(KINDS.dubbing.path, body), 422, 'INPUT_NOT_USABLE');
    },
  }),
  rule('contract', 'foreign-text', {
    title: 'names in any script are returned unchanged',
    covers: ['shape.upload-requests', 'upload.fields'],
    async check(service) {
      const file = subtitleFile('x', '第一集 “été” 🎬.srt');
      const { answer } = await reserve(service.caller, file);
      assert.equal(textAt(answer.json, 'file_name'), file.name);
    },
  }),
];
