/** The upload resource in its states. */
import assert from 'node:assert/strict';
import { expectMembers, expectOneOf } from '../expect/answer.ts';
import { readPage } from '../prepare/lists.ts';
import { goodSubtitleFile } from '../prepare/subtitles.ts';
import { directUploadOf, readySubtitle, readyVideo, reserve } from '../prepare/uploads.ts';
import { type Rule, section } from '../rule.ts';
import { asObject, instantAt, isObject, listAt, numberAt, textAt, valueAt } from '../wire/json.ts';

const rule = section('uploads');

const UPLOAD_STATUSES: readonly string[] = ['waiting_for_upload', 'validating', 'ready', 'failed', 'expired'];

const UPLOAD_MEMBERS = [
  'id',
  'object',
  'status',
  'purpose',
  'file_name',
  'content_type',
  'size_bytes',
  'upload_request',
  'media',
  'subtitle',
  'error',
  'client_reference',
  'created_at',
  'updated_at',
  'expires_at',
  'detail_url',
];
const HOUR_MS = 60 * 60_000;

export const UPLOAD_RULES: readonly Rule[] = [
  rule('spec', 'reservation', {
    title: 'a reservation waits for its bytes and has an address for them',
    covers: ['behavior.reservation', 'upload-transition.created', 'upload.status', 'upload.purpose'],
    async check(service) {
      const { answer } = await reserve(service.caller, goodSubtitleFile(service));
      assert.equal(textAt(answer.json, 'status'), 'waiting_for_upload');
      assert.equal(textAt(answer.json, 'purpose'), 'subtitle_file');
      assert.match(directUploadOf(answer).url, /^https?:\/\//);
    },
  }),
  rule('spec', 'statuses', {
    title: 'every upload in the list has one of the five statuses and one of the two purposes',
    covers: ['upload.status', 'upload.purpose'],
    async check(service) {
      await readySubtitle(service);
      const page = await readPage(service.caller, '/uploads', [['limit', '50']]);
      assert.notEqual(listAt(page.json, 'data').length, 0);
      for (const upload of listAt(page.json, 'data')) {
        expectOneOf(valueAt(upload, 'status'), UPLOAD_STATUSES, 'status');
        expectOneOf(valueAt(upload, 'purpose'), ['source_video', 'subtitle_file'], 'purpose');
      }
    },
  }),
  rule('spec', 'read', {
    title: 'getUpload shows the state of the upload',
    covers: ['behavior.get-upload'],
    async check(service) {
      const { id } = await reserve(service.caller, goodSubtitleFile(service));
      const waiting = await service.caller.get(`/uploads/${id}`);
      assert.equal(textAt(waiting.json, 'status'), 'waiting_for_upload');
      const ready = await readySubtitle(service);
      assert.equal(textAt((await service.caller.get(`/uploads/${ready.id}`)).json, 'status'), 'ready');
    },
  }),
  rule('contract', 'members', {
    title: 'an upload has its sixteen members in every state',
    covers: ['upload.fields', 'shape.responses'],
    async check(service) {
      const { id, answer } = await reserve(service.caller, goodSubtitleFile(service), {
        client_reference: 'r',
      });
      const ready = await readySubtitle(service);
      for (const upload of [answer, ready.last]) expectMembers(upload.json, UPLOAD_MEMBERS, 'an upload');
      const { json } = answer;
      assert.equal(textAt(json, 'object'), 'upload');
      assert.equal(textAt(json, 'client_reference'), 'r');
      assert.equal(textAt(json, 'detail_url'), `${service.basePath}/uploads/${id}`);
      assert.equal(numberAt(json, 'size_bytes'), goodSubtitleFile(service).bytes.length);
      expectMembers(
        valueAt(json, 'upload_request'),
        ['method', 'url', 'headers', 'expires_at'],
        'upload_request',
      );
      assert.equal(instantAt(json, 'upload_request', 'expires_at'), instantAt(json, 'expires_at'));
      assert.equal(instantAt(json, 'expires_at') - instantAt(json, 'created_at'), HOUR_MS);
    },
  }),
  rule('contract', 'request-ends', {
    title: 'upload_request is null once the upload no longer waits',
    covers: ['upload.fields'],
    async check(service) {
      const { last, answer } = await readySubtitle(service);
      assert.ok(isObject(valueAt(answer.json, 'upload_request')), 'it is there at first');
      assert.equal(valueAt(last.json, 'upload_request'), null);
    },
  }),
  rule('contract', 'subtitle-facts', {
    title: 'a ready subtitle states its lines and its end',
    covers: ['upload.fields'],
    async check(service) {
      const { last } = await readySubtitle(service);
      // Two lines, the second one from 2,000 to 3,500 ms.
      assert.deepEqual(asObject(valueAt(last.json, 'subtitle')), { lines: 2, duration_seconds: 3.5 });
      assert.equal(valueAt(last.json, 'media'), null);
    },
  }),
  rule('contract', 'media-facts', {
    title: 'a ready video states its duration, container, picture and sound',
    covers: ['upload.fields'],
    needs: ['media'],
    async check(service) {
      const media = valueAt((await readyVideo(service)).last.json, 'media');
      assert.ok(numberAt(media, 'duration_seconds') > 0, 'the duration is above 0');
      assert.notEqual(textAt(media, 'container'), '');
      expectMembers(valueAt(media, 'video'), ['codec', 'width', 'height', 'frame_rate'], 'media.video');
      expectMembers(valueAt(media, 'audio'), ['codec', 'sample_rate', 'channels'], 'media.audio');
    },
  }),
];
