/** The records that filters and bounds of lists return. */
import assert from 'node:assert/strict';
import { KINDS } from '../operations.ts';
import { finishedJob, SHARED_REFERENCE } from '../prepare/jobs.ts';
import { crowd, idsOf, readPage, walk } from '../prepare/lists.ts';
import { goodSubtitleFile } from '../prepare/subtitles.ts';
import { readySubtitle, reserve } from '../prepare/uploads.ts';
import { type Rule, section } from '../rule.ts';
import type { ServiceUnderTest } from '../service.ts';
import { listAt, textAt } from '../wire/json.ts';
import type { Query } from '../wire/sign.ts';

const rule = section('filters');

const { path: DUBBINGS } = KINDS.dubbing;

/** Returns id and time of a job; the specification does not show a time of an upload. */
async function timed(service: ServiceUnderTest): Promise<{ id: string; at: string }> {
  const { id, last } = await finishedJob(service, 'dubbing');
  return { id, at: textAt(last.json, 'created_at') };
}

/** Returns the same time in the time zone eight hours east of UTC. */
function inShanghai(instant: string): string {
  const shifted = new Date(Date.parse(instant) + 8 * 60 * 60_000);
  return shifted.toISOString().replace('Z', '+08:00');
}

export const FILTER_RULES: readonly Rule[] = [
  rule('spec', 'created-after-inclusive', {
    title: 'created_after includes a record of exactly that instant',
    covers: ['parameter.created-after'],
    needs: ['jobs'],
    async check(service) {
      const { id, at } = await timed(service);
      assert.ok((await walk(service.caller, DUBBINGS, [['created_after', at]])).includes(id));
    },
  }),
  rule('spec', 'created-before-exclusive', {
    title: 'created_before excludes a record of exactly that instant',
    covers: ['parameter.created-before'],
    needs: ['jobs'],
    async check(service) {
      const { id, at } = await timed(service);
      const later = new Date(Date.parse(at) + 1000).toISOString();
      const before = await walk(service.caller, DUBBINGS, [['created_before', at]]);
      const after = await walk(service.caller, DUBBINGS, [['created_before', later]]);
      assert.ok(!before.includes(id), 'held back at its own instant');
      assert.ok(after.includes(id), 'let through a second later');
    },
  }),
  rule('spec', 'time-zones', {
    title: 'the same instant is the same bound in every time zone',
    covers: ['parameter.created-after', 'parameter.created-before'],
    needs: ['jobs'],
    async check(service) {
      const { id, at } = await timed(service);
      const utc = await walk(service.caller, DUBBINGS, [['created_after', new Date(at).toISOString()]]);
      const shanghai = await walk(service.caller, DUBBINGS, [['created_after', inShanghai(at)]]);
      assert.ok(utc.includes(id), 'the record of that instant is let through');
      assert.deepEqual(shanghai, utc);
    },
  }),
  rule('spec', 'upload-status', {
    title: 'a status selects the uploads of that status and no others',
    covers: ['parameter.status', 'upload.status'],
    async check(service) {
      const { id } = await readySubtitle(service);
      await crowd(service);
      const query: Query = [['status', 'ready']];
      assert.ok(
        (await walk(service.caller, '/uploads', query)).includes(id),
        'the ready upload is let through',
      );
      const page = await readPage(service.caller, '/uploads', query);
      for (const upload of listAt(page.json, 'data')) assert.equal(textAt(upload, 'status'), 'ready');
    },
  }),
  rule('spec', 'purpose', {
    title: 'a purpose selects the uploads of that purpose and no others',
    covers: ['parameter.purpose', 'upload.purpose'],
    async check(service) {
      const file = goodSubtitleFile(service);
      const video = await reserve(service.caller, { ...file, purpose: 'source_video', name: 'a.mp4' });
      const subtitle = await reserve(service.caller, file);
      const page = await readPage(service.caller, '/uploads', [['purpose', 'source_video']]);
      assert.ok(idsOf(page).includes(video.id), 'the video is let through');
      assert.ok(!idsOf(page).includes(subtitle.id), 'the subtitle is held back');
      for (const upload of listAt(page.json, 'data')) assert.equal(textAt(upload, 'purpose'), 'source_video');
    },
  }),
  rule('spec', 'job-status', {
    title: 'a status selects the jobs of that status and no others',
    covers: ['parameter.status'],
    needs: ['jobs'],
    async check(service) {
      const { id, last } = await finishedJob(service, 'subtitle_translation');
      const status = textAt(last.json, 'status');
      const since: Query = [['created_after', textAt(last.json, 'created_at')]];
      const { path } = KINDS.subtitle_translation;
      const ids = await walk(service.caller, path, [...since, ['status', status]]);
      assert.ok(ids.includes(id), `the ${status} job is let through`);
      const page = await readPage(service.caller, path, [['status', status]]);
      for (const job of listAt(page.json, 'data')) assert.equal(textAt(job, 'status'), status);
      const queued = await walk(service.caller, path, [...since, ['status', 'queued']]);
      assert.ok(!queued.includes(id), 'it is held back by another status');
    },
  }),
  rule('spec', 'client-reference', {
    title: 'a client_reference selects the jobs with it and no others',
    covers: ['parameter.client-reference', 'job.optional-fields'],
    needs: ['jobs'],
    async check(service) {
      const { id } = await finishedJob(service, 'dubbing');
      const { path } = KINDS.dubbing;
      const page = await readPage(service.caller, path, [['client_reference', SHARED_REFERENCE]]);
      assert.ok(idsOf(page).includes(id), 'the job that carries it is let through');
      for (const job of listAt(page.json, 'data')) {
        assert.equal(textAt(job, 'client_reference'), SHARED_REFERENCE);
      }
      const other = await readPage(service.caller, path, [['client_reference', `${SHARED_REFERENCE}s`]]);
      assert.deepEqual(idsOf(other), []);
    },
  }),
];
