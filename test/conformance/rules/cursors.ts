/** Cursors: their length, and where they are valid. */
import assert from 'node:assert/strict';
import { expectProblem } from '../expect/answer.ts';
import { crowd, LIST_PATHS, readPage } from '../prepare/lists.ts';
import { type Rule, section } from '../rule.ts';
import { otherCaller, type ServiceUnderTest } from '../service.ts';
import { textAt } from '../wire/json.ts';
import type { Query } from '../wire/sign.ts';

const rule = section('cursors');

/** Returns a cursor of the uploads list with the query that it belongs to. */
async function uploadsCursor(service: ServiceUnderTest): Promise<{ query: Query; cursor: string }> {
  await crowd(service);
  const query: Query = [
    ['limit', '2'],
    ['status', 'waiting_for_upload'],
  ];
  const page = await readPage(service.caller, '/uploads', query);
  return { query, cursor: textAt(page.json, 'next_cursor') };
}

export const CURSOR_RULES: readonly Rule[] = [
  rule('spec', 'length', {
    title: 'a cursor has at most 1024 characters',
    covers: ['parameter.cursor', 'limit.cursor'],
    async check(service) {
      const { cursor } = await uploadsCursor(service);
      assert.ok(cursor.length >= 1 && cursor.length <= 1024, `it has ${cursor.length}`);
    },
  }),
  rule('contract', 'of-other-filters', {
    title: 'a cursor is refused with other filters',
    covers: ['parameter.cursor'],
    async check(service) {
      const { cursor } = await uploadsCursor(service);
      const answer = await service.caller.get('/uploads', [
        ['cursor', cursor],
        ['status', 'ready'],
      ]);
      expectProblem(service, answer, 400, 'INVALID_REQUEST');
    },
  }),
  rule('contract', 'of-other-list', {
    title: 'a cursor is refused by another list',
    covers: ['parameter.cursor'],
    async check(service) {
      await crowd(service);
      const page = await readPage(service.caller, '/uploads', [['limit', '1']]);
      const query: Query = [['cursor', textAt(page.json, 'next_cursor')]];
      for (const path of LIST_PATHS.filter((each) => each !== '/uploads')) {
        expectProblem(service, await service.caller.get(path, query), 400, 'INVALID_REQUEST');
      }
    },
  }),
  rule('contract', 'of-other-key', {
    title: 'a cursor is refused under another key',
    covers: ['parameter.cursor-opaque'],
    needs: ['otherKey'],
    async check(service) {
      const { query, cursor } = await uploadsCursor(service);
      const answer = await otherCaller(service).get('/uploads', [...query, ['cursor', cursor]]);
      expectProblem(service, answer, 400, 'INVALID_REQUEST');
    },
  }),
  rule('contract', 'changed', {
    title: 'a cursor that was changed in any character is refused',
    covers: ['parameter.cursor-opaque'],
    async check(service) {
      const { query, cursor } = await uploadsCursor(service);
      for (const at of [0, Math.floor(cursor.length / 2), cursor.length - 1]) {
        const other = cursor[at] === 'A' ? 'B' : 'A';
        const changed = cursor.slice(0, at) + other + cursor.slice(at + 1);
        const answer = await service.caller.get('/uploads', [...query, ['cursor', changed]]);
        expectProblem(service, answer, 400, 'INVALID_REQUEST');
      }
    },
  }),
];
