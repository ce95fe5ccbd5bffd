/** The list envelope, in all seven lists. */
import assert from 'node:assert/strict';
import { expectMembers } from '../expect/answer.ts';
import { JOB_LIST_PATHS, LIST_PATHS, readPage } from '../prepare/lists.ts';
import { goodSubtitleFile } from '../prepare/subtitles.ts';
import { reserve } from '../prepare/uploads.ts';
import { type Rule, section } from '../rule.ts';
import type { ServiceUnderTest } from '../service.ts';
import { freshToken } from '../wire/caller.ts';
import type { Incoming } from '../wire/exchange.ts';
import { booleanAt, listAt, textAt, valueAt } from '../wire/json.ts';
import type { Query } from '../wire/sign.ts';

const rule = section('envelope');

/** Returns a filter that matches no record: an unused reference or a time in the future. */
function filterOfNothing({ now }: ServiceUnderTest, path: string): Query {
  if (JOB_LIST_PATHS.includes(path)) return [['client_reference', freshToken()]];
  const tomorrow = new Date(now() + 24 * 60 * 60_000);
  return [['created_after', tomorrow.toISOString()]];
}

/** Creates two reservations and reads a page with one of them. */
async function readHalf(service: ServiceUnderTest): Promise<Incoming> {
  const file = goodSubtitleFile(service);
  await reserve(service.caller, file);
  await reserve(service.caller, file);
  return readPage(service.caller, '/uploads', [['limit', '1']]);
}

async function inEveryList(service: ServiceUnderTest, look: (page: Incoming, path: string) => void) {
  for (const path of LIST_PATHS) look(await readPage(service.caller, path), path);
}

export const ENVELOPE_RULES: readonly Rule[] = [
  rule('spec', 'members', {
    title: 'every list says object: list, and has a cursor exactly if it has more',
    covers: [
      'envelope.object',
      'envelope.data',
      'envelope.has-more',
      'envelope.next-cursor',
      'shape.responses',
    ],
    check: (service) =>
      inEveryList(service, (page, path) => {
        assert.equal(textAt(page.json, 'object'), 'list', path);
        listAt(page.json, 'data');
        const cursor = valueAt(page.json, 'next_cursor');
        const expected = booleanAt(page.json, 'has_more') ? 'string' : 'object';
        assert.equal(typeof cursor, expected, path);
        if (expected === 'object') assert.equal(cursor, null, path);
      }),
  }),
  rule('spec', 'empty', {
    title: 'a list without records has an empty array, no more pages and no cursor',
    covers: ['envelope.data', 'envelope.has-more', 'envelope.next-cursor'],
    async check(service) {
      for (const path of LIST_PATHS) {
        const page = await readPage(service.caller, path, filterOfNothing(service, path));
        assert.deepEqual(listAt(page.json, 'data'), [], path);
        assert.equal(booleanAt(page.json, 'has_more'), false, path);
        assert.equal(valueAt(page.json, 'next_cursor'), null, path);
      }
    },
  }),
  rule('spec', 'next-page', {
    title: 'a page without all records has more, and a cursor to them',
    covers: ['envelope.has-more', 'envelope.next-cursor'],
    async check(service) {
      const page = await readHalf(service);
      assert.equal(listAt(page.json, 'data').length, 1);
      assert.equal(booleanAt(page.json, 'has_more'), true);
      assert.notEqual(textAt(page.json, 'next_cursor'), '');
    },
  }),
  rule('contract', 'exact', {
    title: 'the envelope has its four members and no other',
    covers: ['envelope.object', 'shape.responses'],
    check: (service) =>
      inEveryList(service, (page, path) =>
        expectMembers(page.json, ['object', 'data', 'has_more', 'next_cursor'], `the list ${path}`),
      ),
  }),
];
