/** Pages and the order of lists. Most rules use reservations of uploads, because they cost nothing. */
import assert from 'node:assert/strict';
import { KINDS } from '../operations.ts';
import { finishedJob } from '../prepare/jobs.ts';
import { crowd, idsOf, nextQuery, readPage, walk } from '../prepare/lists.ts';
import { goodSubtitleFile } from '../prepare/subtitles.ts';
import { complete, reserve, store } from '../prepare/uploads.ts';
import { type Rule, section } from '../rule.ts';
import type { Caller } from '../wire/caller.ts';
import { instantAt, listAt, textAt } from '../wire/json.ts';
import type { Query } from '../wire/sign.ts';

const rule = section('paging');

/** Fails unless the times of a list never increase from one item to the next. */
async function expectFalling(caller: Caller, path: string, member: string): Promise<void> {
  const page = await readPage(caller, path, [['limit', '50']]);
  const times = listAt(page.json, 'data').map((item) => instantAt(item, member));
  assert.deepEqual(
    times,
    times.toSorted((left, right) => right - left),
    `${member} in ${path}`,
  );
}

export const PAGING_RULES: readonly Rule[] = [
  rule('spec', 'default-20', {
    title: 'a page has 20 items if no limit is set',
    covers: ['parameter.limit', 'limit.page-size'],
    async check(service) {
      await crowd(service);
      assert.equal(idsOf(await readPage(service.caller, '/uploads')).length, 20);
    },
  }),
  rule('spec', 'largest-50', {
    title: 'limit=50 returns 50 items',
    covers: ['parameter.limit', 'limit.page-size'],
    async check(service) {
      await crowd(service);
      assert.equal(idsOf(await readPage(service.caller, '/uploads', [['limit', '50']])).length, 50);
    },
  }),
  rule('spec', 'smallest-1', {
    title: 'limit=1 returns one item',
    covers: ['parameter.limit'],
    async check(service) {
      await crowd(service);
      assert.equal(idsOf(await readPage(service.caller, '/uploads', [['limit', '1']])).length, 1);
    },
  }),
  rule('spec', 'walk', {
    title: 'following next_cursor returns every record once',
    covers: ['parameter.cursor'],
    async check(service) {
      const { ids, since } = await crowd(service);
      const walked = await walk(service.caller, '/uploads', [
        ['created_after', since],
        ['limit', '7'],
      ]);
      assert.equal(new Set(walked).size, walked.length, 'no record twice');
      // The order of items with the same time is not defined.
      assert.deepEqual(walked.filter((id) => ids.includes(id)).toSorted(), ids.toSorted());
    },
  }),
  rule('spec', 'uploads-newest-first', {
    title: 'uploads are ordered by creation, the newest first',
    covers: ['list.newest-first'],
    async check(service) {
      const { ids, since } = await crowd(service);
      const walked = await walk(service.caller, '/uploads', [['created_after', since]]);
      // Which of two at the same time comes first is not defined; the first and the last of these are not at the same time.
      assert.ok(walked.indexOf(ids[0] ?? '') < walked.indexOf(ids.at(-1) ?? ''), 'the last one stands first');
      if (service.strict) await expectFalling(service.caller, '/uploads', 'created_at');
    },
  }),
  rule('spec', 'jobs-newest-first', {
    title: 'jobs are ordered by creation, the newest first',
    covers: ['list.newest-first'],
    needs: ['jobs'],
    async check(service) {
      const { id } = await finishedJob(service, 'dubbing');
      const later = await service.caller.post(
        KINDS.dubbing.path,
        (await finishedJob(service, 'dubbing')).body,
      );
      const ids = idsOf(await readPage(service.caller, KINDS.dubbing.path, [['limit', '50']]));
      assert.ok(ids.indexOf(textAt(later.json, 'id')) < ids.indexOf(id), 'the later job stands first');
      await expectFalling(service.caller, KINDS.dubbing.path, 'created_at');
    },
  }),
  rule('contract', 'transactions-newest-first', {
    title: 'transactions are ordered by posted_at, the newest first',
    covers: ['list.transactions-by-posting', 'transaction.fields'],
    needs: ['jobs'],
    async check(service) {
      await finishedJob(service, 'subtitle_translation');
      await finishedJob(service, 'dubbing');
      const page = await readPage(service.caller, '/credit-transactions');
      assert.ok(listAt(page.json, 'data').length >= 2, 'two jobs were charged');
      await expectFalling(service.caller, '/credit-transactions', 'posted_at');
    },
  }),
  rule('spec', 'live', {
    title: 'a later page shows the current record, not its state when the first page was read',
    covers: ['list.live'],
    async check(service) {
      const file = goodSubtitleFile(service);
      const { id, etag } = await store(service.caller, file);
      await reserve(service.caller, file);
      const query: Query = [['limit', '1']];
      const next = nextQuery(await readPage(service.caller, '/uploads', query), query);
      await complete(service.caller, id, etag);
      const page = await readPage(service.caller, '/uploads', next ?? []);
      assert.deepEqual(idsOf(page), [id]);
      assert.notEqual(textAt(listAt(page.json, 'data')[0], 'status'), 'waiting_for_upload');
    },
  }),
  rule('contract', 'insertion', {
    title: 'no record is skipped or repeated while new ones are added',
    covers: ['list.live', 'parameter.cursor'],
    async check(service) {
      const { ids, since } = await crowd(service);
      const walked: string[] = [];
      let query: Query | null = [
        ['created_after', since],
        ['limit', '10'],
      ];
      while (query !== null) {
        const page = await readPage(service.caller, '/uploads', query);
        walked.push(...idsOf(page));
        await reserve(service.caller, goodSubtitleFile(service));
        query = nextQuery(page, query);
      }
      assert.deepEqual(
        walked.filter((id) => ids.includes(id)),
        ids,
      );
    },
  }),
];
