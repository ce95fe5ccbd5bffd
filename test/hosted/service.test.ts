/** The hosted-like service keeps to the specification: what holds against it holds against the least that one may do. */
import { expect, onTestFinished, test } from 'vitest';
import { readBooks } from './books.ts';
import { type Ask, createAsk } from './caller.ts';
import { type Hosted, type HostedOptions, startHosted } from './service.ts';
import { VARIANTS } from './variants.ts';

const LINES = [{ index: 1, start_ms: 0, end_ms: 1000, text: 'hello' }];
const DUB = { subtitle: { type: 'lines', lines: LINES }, target_language: 'es' };

/** Source: specification, "Business job list item": no additional properties. */
const LIST_FIELDS = [
  'client_reference',
  'created_at',
  'detail_url',
  'id',
  'object',
  'progress',
  'status',
  'updated_at',
];

async function open(options: Partial<HostedOptions> = {}): Promise<{ hosted: Hosted; ask: Ask }> {
  const hosted = await startHosted(VARIANTS.minimal, new Set(), options);
  onTestFinished(() => hosted.close());
  return { hosted, ask: createAsk(hosted.baseUrl, hosted.account, options.now) };
}

test('a job shows the fields of the list, its result, billing and expires_at, and nothing else', async () => {
  let now = Date.now();
  const { ask } = await open({ now: () => now, jobMs: () => 1000 });
  const { json: made, status, headers } = await ask('POST', '/v1/dubbings', DUB);
  expect([status, headers.get('location')]).toEqual([202, made.detail_url]);
  expect(Object.keys(made).sort()).toEqual(['billing', ...LIST_FIELDS]);
  now += 1000;
  const { json: done } = await ask('GET', made.detail_url);
  expect(Object.keys(done).sort()).toEqual([...LIST_FIELDS, 'billing', 'expires_at', 'result'].sort());
  expect(Object.keys(done.result)).toEqual(['audio']);
  expect(done.result.audio).toMatch(/^http/);
  const { json: list } = await ask('GET', '/v1/dubbings');
  expect(list).toMatchObject({ object: 'list', has_more: false, next_cursor: null });
  expect(Object.keys(list.data[0]).sort()).toEqual(LIST_FIELDS);
});

test('an upload shows its id, status, purpose and address, and nothing else', async () => {
  const { ask } = await open();
  const { json } = await ask('POST', '/v1/uploads', { purpose: 'source_video' });
  expect(Object.keys(json).sort()).toEqual(['direct_upload', 'id', 'purpose', 'status']);
  expect(Object.keys(json.direct_upload)).toEqual(['url']);
});

test('a key creates one job, says that it did so before, and is refused for another intent', async () => {
  const { hosted, ask } = await open();
  const first = await ask('POST', '/v1/dubbings', DUB, 'one');
  const second = await ask('POST', '/v1/dubbings', DUB, 'one');
  expect([first, second].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([
    'false',
    'true',
  ]);
  expect(second.json.id).toBe(first.json.id);
  const other = await ask('POST', '/v1/dubbings', { ...DUB, target_language: 'fr' }, 'one');
  expect([other.status, other.json.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  expect(Object.keys(other.json).sort()).toEqual(
    ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id', 'retryable'].sort(),
  );
  expect(hosted.jobs.size).toBe(1);
  const bare = await ask('POST', '/v1/dubbings', DUB, 'not allowed');
  expect([bare.status, bare.json.code]).toEqual([400, 'INVALID_REQUEST']);
});

test('the sixteenth job at a time is refused until one of the fifteen has ended', async () => {
  let now = Date.now();
  const { ask } = await open({ now: () => now, jobMs: () => 1000 });
  for (let count = 0; count < 15; count += 1) {
    expect((await ask('POST', '/v1/dubbings', DUB)).status).toBe(202);
  }
  const refused = await ask('POST', '/v1/dubbings', DUB);
  expect([refused.status, refused.json.code]).toEqual([429, 'CONCURRENCY_LIMIT_EXCEEDED']);
  now += 1000;
  expect((await ask('POST', '/v1/dubbings', DUB)).status).toBe(202);
});

test('lists are filtered, paged and newest first, and refuse unknown parameters', async () => {
  let now = Date.parse('2026-11-01T00:00:00Z');
  const { ask } = await open({ now: () => now, jobMs: () => 1500 });
  for (const reference of ['a', 'b', 'c']) {
    await ask('POST', '/v1/dubbings', { ...DUB, client_reference: reference });
    now += 1000;
  }
  const references = async (query: string) => {
    const { json } = await ask('GET', `/v1/dubbings?${query}`);
    return json.data.map(({ client_reference }: { client_reference: string }) => client_reference);
  };
  expect(await references('limit=50')).toEqual(['c', 'b', 'a']);
  expect(await references('client_reference=b')).toEqual(['b']);
  expect(await references('status=succeeded')).toEqual(['b', 'a']);
  expect(await references('created_after=2026-11-01T00%3A00%3A01Z')).toEqual(['c', 'b']);
  expect(await references('created_before=2026-11-01T00%3A00%3A01Z')).toEqual(['a']);
  const { json: page } = await ask('GET', '/v1/dubbings?limit=2');
  expect(page.has_more).toBe(true);
  expect(await references(`cursor=${page.next_cursor}&limit=2`)).toEqual(['a']);
  for (const query of ['limit=51', 'color=red', 'status=open', 'created_after=2026-11-01T00%3A00%3A01']) {
    expect((await ask('GET', `/v1/dubbings?${query}`)).status).toBe(400);
  }
});

test('a job is cancelled while it is processed, and not afterwards', async () => {
  const { ask, hosted } = await open();
  hosted.isHeld = true;
  const { json } = await ask('POST', '/v1/dubbings', DUB);
  const cancelled = await ask('DELETE', json.detail_url, undefined, 'cancel');
  expect([cancelled.status, cancelled.json.status]).toEqual([202, 'cancelled']);
  const replayed = await ask('DELETE', json.detail_url, undefined, 'cancel');
  expect([replayed.status, replayed.headers.get('idempotency-replayed')]).toEqual([202, 'true']);
  expect((await ask('DELETE', json.detail_url)).status).toBe(409);
});

test('an address of a result expires at the stated time, with 403 and XML, and no two results are alike', async () => {
  let now = Date.now();
  const { ask, hosted } = await open({ now: () => now, jobMs: () => 0, linkMs: 5000 });
  const jobs = [await ask('POST', '/v1/dubbings', DUB), await ask('POST', '/v1/dubbings', DUB)];
  const digests = new Set<string>();
  for (const { json } of jobs) {
    const { json: done } = await ask('GET', json.detail_url);
    const whole = await fetch(done.result.audio);
    expect(whole.headers.get('content-type')).toBe('binary/octet-stream');
    digests.add(Buffer.from(await whole.arrayBuffer()).toString('base64'));
    const part = await fetch(done.result.audio, { headers: { range: 'bytes=10-' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([
      206,
      expect.stringMatching(/^bytes 10-/),
    ]);
    now = Date.parse(done.expires_at);
    const late = await fetch(done.result.audio);
    expect([late.status, await late.text()]).toEqual([
      403,
      expect.stringContaining('<Code>AccessDenied</Code>'),
    ]);
    now -= 5000;
  }
  expect(digests.size).toBe(2);
  expect(Object.values(readBooks(hosted).payments)).toEqual([2]);
});

test('another key cannot see any of it', async () => {
  const { ask, hosted } = await open();
  const { json } = await ask('POST', '/v1/dubbings', DUB);
  const other = createAsk(hosted.baseUrl, hosted.issueKey());
  expect((await other('GET', json.detail_url)).status).toBe(404);
  expect((await other('GET', '/v1/dubbings')).json.data).toEqual([]);
  const stranger = createAsk(hosted.baseUrl, { key: 'AK-1', secret: 'wrong' });
  expect((await stranger('GET', '/v1/dubbings')).json.code).toBe('AUTHENTICATION_FAILED');
});
