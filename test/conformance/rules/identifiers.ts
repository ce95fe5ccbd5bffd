/** Ids, times and URLs, in the forms defined by the contract. */
import assert from 'node:assert/strict';
import { headerOf } from '../expect/answer.ts';
import type { JobKind } from '../operations.ts';
import { finishedJob, possibleKinds } from '../prepare/jobs.ts';
import { crowd, readPage } from '../prepare/lists.ts';
import { readySubtitle } from '../prepare/uploads.ts';
import { type Rule, section } from '../rule.ts';
import { isObject, listAt, textAt } from '../wire/json.ts';

const rule = section('identifiers');

const PREFIXES: Readonly<Record<JobKind, string>> = {
  audio_separation: 'sep',
  subtitle_recognition: 'rec',
  subtitle_translation: 'tra',
  dubbing: 'dub',
  auto_localization: 'loc',
};

/** A prefix, and 26 lower-case characters of Crockford's base 32. */
function expectId(id: string, prefix: string): void {
  assert.match(id, new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`));
}

/** Returns all members of an answer that contain a time, at any depth. */
function timesIn(value: unknown): [name: string, time: unknown][] {
  if (Array.isArray(value)) return value.flatMap(timesIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name.endsWith('_at') && member !== null ? [[name, member]] : timesIn(member),
  );
}

export const IDENTIFIER_RULES: readonly Rule[] = [
  rule('contract', 'uploads', {
    title: 'ids of uploads and requests are a prefix and 26 lower-case characters',
    covers: ['path.ids', 'header.request-id'],
    async check(service) {
      const { id, answer } = await readySubtitle(service);
      expectId(id, 'upl');
      expectId(headerOf(answer, 'X-Request-ID'), 'req');
    },
  }),
  rule('contract', 'jobs', {
    title: 'ids of jobs start with the prefix of their kind, those of transactions with txn',
    covers: ['item.id', 'transaction.fields'],
    needs: ['jobs'],
    async check(service) {
      for (const kind of possibleKinds(service))
        expectId((await finishedJob(service, kind)).id, PREFIXES[kind]);
      const page = await readPage(service.caller, '/credit-transactions');
      for (const line of listAt(page.json, 'data')) expectId(textAt(line, 'id'), 'txn');
    },
  }),
  rule('contract', 'sortable', {
    title: 'ids sort by creation',
    covers: ['path.ids', 'list.newest-first'],
    async check(service) {
      const { ids } = await crowd(service);
      assert.deepEqual(ids, ids.toSorted().toReversed());
    },
  }),
  rule('contract', 'times', {
    title: 'times are RFC 3339 in UTC with milliseconds and Z',
    covers: ['item.created-at', 'item.updated-at', 'upload.fields', 'job.fields'],
    needs: ['jobs'],
    async check(service) {
      const job = await finishedJob(service, 'subtitle_translation');
      const upload = await readySubtitle(service);
      const times = [job.answer, job.last, upload.answer, upload.last].flatMap(({ json }) => timesIn(json));
      // 2 of the new job, which need not have started, 6 of the finished one, 4 and 3 of the upload.
      assert.ok(times.length >= 15, `there are ${times.length} times`);
      for (const [name, time] of times) {
        assert.match(String(time), /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/, name);
      }
    },
  }),
  rule('contract', 'addresses', {
    title: 'detail_url and Location are the same path, relative and with the version',
    covers: ['item.detail-url', 'header.location'],
    needs: ['jobs'],
    async check(service) {
      for (const kind of possibleKinds(service)) {
        const { answer, path } = await finishedJob(service, kind);
        assert.equal(textAt(answer.json, 'detail_url'), service.basePath + path);
        assert.equal(headerOf(answer, 'Location'), service.basePath + path);
      }
    },
  }),
];
