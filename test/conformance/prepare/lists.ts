/** Lists and their pages. */
import { expectStatus } from '../expect/answer.ts';
import { JOB_KINDS, KINDS } from '../operations.ts';
import { type ServiceUnderTest, shared } from '../service.ts';
import type { Caller } from '../wire/caller.ts';
import type { Incoming } from '../wire/exchange.ts';
import { booleanAt, listAt, textAt } from '../wire/json.ts';
import type { Query } from '../wire/sign.ts';
import { goodSubtitleFile } from './subtitles.ts';
import { reserve } from './uploads.ts';

/** Paths of the seven lists. */
export const LIST_PATHS: readonly string[] = [
  '/credit-transactions',
  '/uploads',
  ...JOB_KINDS.map((kind) => KINDS[kind].path),
];
export const JOB_LIST_PATHS: readonly string[] = JOB_KINDS.map((kind) => KINDS[kind].path);

/** Reads a page. Fails unless it is 200 with an array of records. */
export async function readPage(caller: Caller, path: string, query: Query = []): Promise<Incoming> {
  const answer = await caller.get(path, query);
  expectStatus(answer, 200);
  listAt(answer.json, 'data');
  return answer;
}

/** Returns the ids of the records on a page, in order. */
export function idsOf(page: Incoming): string[] {
  return listAt(page.json, 'data').map((item) => textAt(item, 'id'));
}

/** Returns the query of the next page, or null after the last one. */
export function nextQuery(page: Incoming, query: Query): Query | null {
  if (!booleanAt(page.json, 'has_more')) return null;
  return [...query.filter(([name]) => name !== 'cursor'), ['cursor', textAt(page.json, 'next_cursor')]];
}

/** Returns all ids of a list, starting at its first page. */
export async function walk(caller: Caller, path: string, query: Query): Promise<string[]> {
  const ids: string[] = [];
  let next: Query | null = query;
  while (next !== null) {
    const page: Incoming = await readPage(caller, path, next);
    ids.push(...idsOf(page));
    next = nextQuery(page, next);
  }
  return ids;
}

/** One more than the largest page. */
const CROWD = 51;

/** More than the clocks of two machines differ that measure the difference in whole seconds. */
const MARGIN_MS = 5000;

/** Ids of 51 reservations, which cost nothing, newest first. `since` is a time shortly before the first one. */
export const crowd: (service: ServiceUnderTest) => Promise<{ ids: string[]; since: string }> = shared(
  async (service) => {
    const file = goodSubtitleFile(service);
    const ids: string[] = [];
    const since = new Date(service.now() - MARGIN_MS).toISOString();
    for (let made = 0; made < CROWD; made += 1) ids.unshift((await reserve(service.caller, file)).id);
    return { ids, since };
  },
);
