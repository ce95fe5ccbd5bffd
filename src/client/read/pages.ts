/** Lists of the service: `await` returns one page, `for await` goes through the entries of all pages. */
import { type Failure, refusedFailure } from '../../base/failure.ts';
import type { ListPage } from './resources.ts';

/** One page to await; to iterate, the entries of this and all later pages, each page fetched when it is needed. */
export type Pages<Item> = Promise<ListPage<Item>> & AsyncIterable<Item>;

/**
 * Makes a list from what fetches one page. The first page is fetched at once.
 * @param load fetches the page at a cursor, the first without one
 */
export function createPages<Item>(load: (cursor?: string) => Promise<ListPage<Item>>): Pages<Item> {
  const first = load();
  return Object.assign(first, {
    async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
      const seen = new Set<string>();
      let page = await first;
      for (;;) {
        yield* page.data;
        const cursor = page.next_cursor;
        if (!page.has_more || cursor === null) return;
        if (seen.has(cursor)) throw repeatedCursorFailure();
        seen.add(cursor);
        page = await load(cursor);
      }
    },
  });
}

/** A list that would never end. */
function repeatedCursorFailure(): Failure {
  return refusedFailure(
    'CURSOR_REPEATED',
    'the service returned the same next_cursor twice, so the list would never end',
    'Limit the list with created_after and created_before, and report this to the service.',
    { origin: 'api', blame: 'service' },
  );
}
