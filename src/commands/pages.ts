/** Lists over as many pages as it takes. */

import type { ListPage } from '../client/index.ts';
import { Failure } from '../errors/failure.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { ListRequest } from './list-options.ts';

/** What one page is asked for. */
export interface PageQuery {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/**
 * Reads pages until there are as many rows as wanted, or no more.
 * The pages end exactly there, so that the last cursor goes on behind the last row.
 * @throws Failure of category refused when a cursor leads back to where it came from
 */
export async function readPages<Row>(
  { limit, cursor }: Pick<ListRequest, 'limit' | 'cursor'>,
  readPage: (query: PageQuery) => Promise<ListPage<Row>>,
): Promise<ListPage<Row>> {
  const data: Row[] = [];
  const seen = new Set<string>();
  let next = cursor;
  for (;;) {
    const page = await readPage({ limit: Math.min(LIMITS.pageSize.max, limit - data.length), cursor: next });
    data.push(...page.data);
    if (!page.has_more || page.next_cursor === null || data.length >= limit) return { ...page, data };
    if (seen.has(page.next_cursor)) throw goesRound();
    seen.add(page.next_cursor);
    next = page.next_cursor;
  }
}

function goesRound(): Failure {
  return new Failure({
    category: 'refused',
    code: 'CURSOR_REPEATED',
    message: 'the service returns the same page repeatedly',
    advice: 'Report it to the operator of the service; a smaller --limit may help meanwhile.',
  });
}
