import { expect, test } from 'vitest';
import { failureOf, startHarness } from '../support/harness.ts';
import { json } from '../support/scripted-server.ts';

test('uploads are listed by their filters, page by page', async () => {
  const { client, server } = await startHarness();
  const item = { id: 'upl_1', status: 'ready' };
  server.script.push(json(200, { object: 'list', data: [item], has_more: true, next_cursor: 'c+/=' }));
  const page = await client.uploads.list({ status: 'ready', limit: 1 });
  expect(page).toMatchObject({
    has_more: true,
    next_cursor: 'c+/=',
    data: [{ id: 'upl_1', file_name: null }],
  });
  await failureOf(client.uploads.list({ cursor: page.next_cursor ?? '' }));
  expect(server.seen.map((seen) => seen.target)).toEqual([
    '/v1/uploads?limit=1&status=ready',
    '/v1/uploads?cursor=c%2B%2F%3D',
  ]);
});
