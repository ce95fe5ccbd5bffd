import fc from 'fast-check';
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

/** Walks through all pages; `between` is called after each. */
async function walk(caller: Caller, limit: number, between: () => Promise<void>): Promise<string[]> {
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const rest: string = cursor === '' ? '' : `cursor=${cursor}&`;
    const page = await caller.get(`/v1/uploads?${rest}limit=${limit}`);
    expect(page.status).toBe(200);
    expect(page.json.object).toBe('list');
    expect(page.json.has_more).toBe(page.json.next_cursor !== null);
    expect(page.json.data.length).toBeLessThanOrEqual(limit);
    seen.push(...page.json.data.map((item: { id: string }) => item.id));
    cursor = page.json.next_cursor;
    if (cursor !== null) await between();
  }
  return seen;
}

test('whatever is added while a caller pages, each existing item is seen once, the newest first', async () => {
  const { caller } = await startScene();
  let there = await makeUploads(caller, 7);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 9 }), fc.nat({ max: 2 }), async (limit, coming) => {
      const late: string[] = [];
      const seen = await walk(caller, limit, async () => {
        late.push(...(await makeUploads(caller, coming)));
      });
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen).toEqual([...seen].sort().reverse());
      expect([...there].sort().reverse()).toEqual(seen.filter((id) => !late.includes(id)));
      there = [...there, ...late];
    }),
    { numRuns: 12 },
  );
});

test('a cursor of another key, list, filter or text is refused', async () => {
  const { caller, callerFor, service } = await startScene();
  await makeUploads(caller, 2);
  const page = await caller.get('/v1/uploads?limit=1&purpose=subtitle_file');
  const cursor = page.json.next_cursor;
  const other = callerFor(await service.issueKey());
  const refused = [
    await other.get(`/v1/uploads?cursor=${cursor}&limit=1&purpose=subtitle_file`),
    await caller.get(`/v1/uploads?cursor=${cursor}&limit=1`),
    await caller.get(`/v1/uploads?cursor=${cursor}&limit=1&purpose=source_video`),
    await caller.get(`/v1/dubbings?cursor=${cursor}`),
    await caller.get(`/v1/uploads?cursor=${cursor.slice(1)}&purpose=subtitle_file`),
    await caller.get(`/v1/uploads?cursor=${'a'.repeat(1025)}`),
    await caller.get('/v1/uploads?cursor='),
  ];
  expect(refused.map((reply) => [reply.status, reply.json.code])).toEqual(
    Array(refused.length).fill([400, 'INVALID_REQUEST']),
  );
  const next = await caller.get(`/v1/uploads?cursor=${cursor}&limit=50&purpose=subtitle_file`);
  expect(next.json.data).toHaveLength(1);
  expect(next.json).toMatchObject({ has_more: false, next_cursor: null });
});

test('a cursor is valid in another process on the same folder', async () => {
  const one = await startScene();
  const ids = await makeUploads(one.caller, 2);
  const { json } = await one.caller.get('/v1/uploads?limit=1');
  const other = await startScene({ stateDir: one.stateDir });
  const rest = await other.caller.get(`/v1/uploads?cursor=${json.next_cursor}`);
  expect(rest.json.data.map((item: { id: string }) => item.id)).toEqual([ids.sort()[0]]);
});

test('bounds of time are inclusive below and exclusive above, in any time zone', async () => {
  const { caller, clock } = await startScene();
  const old = await caller.post('/v1/uploads', UPLOAD);
  clock.advance(60_000);
  const recent = await caller.post('/v1/uploads', UPLOAD);
  const between = async (query: string) => {
    const reply = await caller.get(`/v1/uploads?${query}`);
    return reply.json.data.map((item: { id: string }) => item.id);
  };
  const at = recent.json.created_at.replaceAll(':', '%3A');
  expect(await between(`created_after=${at}`)).toEqual([recent.json.id]);
  expect(await between(`created_before=${at}`)).toEqual([old.json.id]);
  const local = new Date(Date.parse(recent.json.created_at) + 8 * 3_600_000).toISOString();
  expect(await between(`created_after=${local.replace('Z', '%2B08:00').replaceAll(':', '%3A')}`)).toEqual([
    recent.json.id,
  ]);
});

test('an empty list is a list', async () => {
  const { caller } = await startScene();
  for (const path of ['uploads', 'dubbings', 'auto-localizations', 'credit-transactions']) {
    const reply = await caller.get(`/v1/${path}`);
    expect(reply.json).toEqual({ object: 'list', data: [], has_more: false, next_cursor: null });
  }
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
