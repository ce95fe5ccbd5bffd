/** A list of any shape over all its pages, with its entries as the service gave them. */

import type { Call, Client, ListPage } from '../client/index.ts';
import { Failure } from '../errors/failure.ts';
import { readPages } from './pages.ts';

/**
 * The entries of every page.
 * @throws Failure of category usage when the answer is no list
 */
export async function readAllPages(client: Pick<Client, 'send'>, call: Call): Promise<readonly unknown[]> {
  const unlimited = { limit: Number.POSITIVE_INFINITY, cursor: undefined };
  const { data } = await readPages(unlimited, async ({ cursor }) => {
    const { body } = await client.send({ ...call, ...(cursor === undefined ? {} : { query: { cursor } }) });
    return readEnvelope(body);
  });
  return data;
}

function readEnvelope(body: unknown): ListPage<unknown> {
  const data = typeof body === 'object' && body !== null && 'data' in body ? body.data : null;
  if (typeof body !== 'object' || body === null || !Array.isArray(data)) {
    throw new Failure({
      category: 'usage',
      code: 'NO_LIST',
      message: 'the answer is not a list, so there are no pages to follow',
      advice: 'Leave --paginate out.',
    });
  }
  const cursor = 'next_cursor' in body && typeof body.next_cursor === 'string' ? body.next_cursor : null;
  return { object: 'list', data, has_more: cursor !== null, next_cursor: cursor };
}
