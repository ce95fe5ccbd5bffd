import { expect, test } from 'vitest';
import { Refusal } from '../../../src/service/http/refusal.ts';
import { readListQuery } from '../../../src/service/lists.ts';
import type { Caller } from '../harness/caller.ts';
import { startScene } from '../harness/scene.ts';

const UPLOAD = { purpose: 'subtitle_file', file_name: 'a.srt', content_type: 'text/plain', size_bytes: 10 };

async function makeUploads(caller: Caller, count: number): Promise<string[]> {
  const replies = await Promise.all(Array.from({ length: count }, () => caller.post('/v1/uploads', UPLOAD)));
  return replies.map((reply) => reply.json.id);
}

test('a cursor is valid in another process on the same folder', async () => {
  const one = await startScene();
  const ids = await makeUploads(one.caller, 2);
  const { json } = await one.caller.get('/v1/uploads?limit=1');
  const other = await startScene({ stateDir: one.stateDir });
  const rest = await other.caller.get(`/v1/uploads?cursor=${json.next_cursor}`);
  expect(rest.json.data.map((item: { id: string }) => item.id)).toEqual([ids.sort()[0]]);
});

const FILTERS = { status: { values: ['ready', 'failed'] }, client_reference: { maxLength: 128 } };

const read = (parameters: Record<string, string>) =>
  readListQuery(new Map(Object.entries(parameters)), FILTERS);

test('by default there are 20 rows and no bounds', () => {
  expect(read({})).toEqual({
    limit: 20,
    cursor: null,
    createdAfter: null,
    createdBefore: null,
    filters: new Map(),
  });
});

test.each(['1', '50'])('limit %s is accepted', (limit) => {
  expect(read({ limit }).limit).toBe(Number(limit));
});

test.each([
  ['limit', '0'],
  ['limit', '51'],
  ['limit', '-1'],
  ['limit', '1.5'],
  ['limit', '1e1'],
  ['limit', '05'],
  ['limit', ' 5'],
  ['limit', ''],
  ['created_after', '2026-11-01'],
  ['created_after', '2026-11-01T00:00:00'],
  ['created_after', '2026-13-01T00:00:00Z'],
  ['created_after', '2026-02-30T00:00:00Z'],
  ['created_before', '2026-11-01T24:00:00Z'],
  ['created_before', 'now'],
  ['created_before', '1700000000'],
  ['status', 'done'],
  ['status', ''],
  ['client_reference', ''],
  ['client_reference', 'x'.repeat(129)],
  ['order', 'asc'],
  ['toString', 'x'],
])('%s=%s is refused with its name', (name, value) => {
  const attempt = () => read({ [name]: value });
  expect(attempt).toThrow(Refusal);
  try {
    attempt();
  } catch (error) {
    expect(error).toMatchObject({ code: 'INVALID_REQUEST', extras: { errors: [{ pointer: name }] } });
  }
});

test('all invalid parameters are named together', () => {
  try {
    read({ limit: '0', order: 'asc' });
    expect.unreachable();
  } catch (error) {
    expect(error).toMatchObject({ extras: { errors: [{ pointer: 'limit' }, { pointer: 'order' }] } });
  }
});

test('the bounds must not be empty', () => {
  const at = '2026-11-01T00:00:00Z';
  expect(() => read({ created_after: at, created_before: at })).toThrow('earlier');
  const bounds = read({ created_after: at, created_before: '2026-11-01T08:00:00.001+08:00' });
  expect(bounds.createdBefore).toBe((bounds.createdAfter ?? 0) + 1);
});

test('a reference of 128 characters outside the first plane is accepted', () => {
  expect(read({ client_reference: '😀'.repeat(128) }).filters.get('client_reference')).toHaveLength(256);
});
