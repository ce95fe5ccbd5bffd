/** The list item of the five job kinds. */
import assert from 'node:assert/strict';
import { expectMembers, expectOneOf, expectStatus } from '../expect/answer.ts';
import { KINDS } from '../operations.ts';
import { type Created, createdJob, finishedJob, possibleKinds, SHARED_REFERENCE } from '../prepare/jobs.ts';
import { readPage } from '../prepare/lists.ts';
import { type Rule, section } from '../rule.ts';
import type { ServiceUnderTest } from '../service.ts';
import { instantAt, isObject, type JsonObject, listAt, numberAt, textAt, valueAt } from '../wire/json.ts';

const rule = section('list-item');

export const ITEM_MEMBERS: readonly string[] = [
  'id',
  'object',
  'status',
  'progress',
  'client_reference',
  'created_at',
  'updated_at',
  'detail_url',
];
export const JOB_STATUSES: readonly string[] = ['queued', 'processing', 'succeeded', 'failed', 'cancelled'];

/** Returns the item of a job in the list of its kind. */
async function itemOf(service: ServiceUnderTest, job: Created): Promise<JsonObject> {
  const query = [['client_reference', textAt(job.body, 'client_reference')]] as const;
  const page = await readPage(service.caller, KINDS[job.kind].path, query);
  const item = listAt(page.json, 'data')
    .filter(isObject)
    .find(({ id }) => id === job.id);
  if (item === undefined) assert.fail(`${job.id} is not in the list ${KINDS[job.kind].path}`);
  return item;
}

export const LIST_ITEM_RULES: readonly Rule[] = [
  rule('spec', 'members', {
    title: 'an item has its eight members and no other, with the values of its job',
    covers: [
      'item.exact',
      'item.id',
      'item.object',
      'item.status',
      'item.progress',
      'item.client-reference',
      'item.created-at',
      'item.updated-at',
    ],
    needs: ['jobs'],
    async check(service) {
      for (const kind of possibleKinds(service)) {
        const { json } = (await finishedJob(service, kind)).answer;
        const item = await itemOf(service, await finishedJob(service, kind));
        expectMembers(item, ITEM_MEMBERS, `an item of ${kind}`);
        assert.equal(textAt(item, 'id'), textAt(json, 'id'));
        assert.equal(item.object, kind);
        expectOneOf(item.status, JOB_STATUSES, 'status');
        const progress = numberAt(item, 'progress');
        assert.ok(Number.isInteger(progress) && progress >= 0 && progress <= 100, `progress is ${progress}`);
        assert.equal(item.client_reference, SHARED_REFERENCE);
        assert.equal(instantAt(item, 'created_at'), instantAt(json, 'created_at'));
        assert.ok(
          instantAt(item, 'updated_at') >= instantAt(item, 'created_at'),
          'updated after its creation',
        );
      }
    },
  }),
  rule('spec', 'detail-url', {
    title: 'detail_url leads to the single resource',
    covers: ['item.detail-url', 'item.summary'],
    needs: ['jobs'],
    async check(service) {
      const job = await finishedJob(service, 'subtitle_translation');
      const item = await itemOf(service, job);
      const address = new URL(textAt(item, 'detail_url'), service.origin);
      assert.equal(address.origin, service.origin, 'the origin of detail_url');
      assert.ok(address.pathname.startsWith(`${service.basePath}/`), `detail_url is ${address.pathname}`);
      const answer = await service.caller.get(address.pathname.slice(service.basePath.length));
      expectStatus(answer, 200);
      assert.equal(textAt(answer.json, 'id'), job.id);
      assert.notEqual(valueAt(answer.json, 'result'), null, 'the single resource carries the result');
    },
  }),
  rule('spec', 'no-reference', {
    title: 'client_reference is null if the caller sent none',
    covers: ['item.client-reference'],
    needs: ['jobs'],
    async check(service) {
      const { body } = await createdJob(service, 'subtitle_translation');
      const { client_reference: _reference, ...bare } = body;
      const answer = await service.caller.post(KINDS.subtitle_translation.path, bare);
      expectStatus(answer, 202);
      const page = await readPage(service.caller, KINDS.subtitle_translation.path, [['limit', '50']]);
      const item = listAt(page.json, 'data')
        .filter(isObject)
        .find(({ id }) => id === textAt(answer.json, 'id'));
      assert.equal(valueAt(item, 'client_reference'), null);
    },
  }),
];
