import { setImmediate } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { failureOf, startHarness } from '../support/harness.ts';
import type { Reply } from '../support/scripted-server.ts';
import { json, problem } from '../support/scripted-server.ts';

const job = (id: string, status = 'processing', more: object = {}) => ({ id, status, progress: 10, ...more });
const notFound = problem(404, 'RESOURCE_NOT_FOUND', false);

/** Answers for the one job there is, 404 for all others; as strict about paths as the service. */
function only(path: string, reply: Reply) {
  return (_method: string, target: string) => (target === path ? reply : notFound);
}

const TRANSLATED = { subtitle: { type: 'upload', upload_id: 'upl_1' }, target_language: 'es' } as const;

describe('a job', () => {
  test('is created under the path of its kind, with fields that this version does not know', async () => {
    const { server, client } = await startHarness({ fallback: json(202, job('dub_1', 'queued')) });
    const request = {
      subtitle: { type: 'upload', upload_id: 'upl_1' },
      target_language: 'es',
      style: 'calm',
    } as const;
    const created = await client.jobs.create('dubbing', request, { idempotencyKey: 'intent-1' });
    expect(created).toMatchObject({
      id: 'dub_1',
      object: 'dubbing',
      status: 'queued',
      billing: null,
      input: {},
    });
    expect(server.seen).toMatchObject([{ method: 'POST', target: '/v1/dubbings' }]);
    expect(server.seen[0]?.headers['idempotency-key']).toBe('intent-1');
    expect(JSON.parse(server.seen[0]?.body.toString() ?? '')).toEqual(request);
  });

  test.each(['../uploads/x', 'a\\b', 'a\nb'])(
    'whose id %j would lead elsewhere is a fault of the service',
    async (id) => {
      const { client } = await startHarness({ fallback: json(202, job(id, 'queued')) });
      const { facts } = await failureOf(client.jobs.create('dubbing', TRANSLATED));
      expect(facts).toMatchObject({ category: 'refused', code: 'ANSWER_INCOMPLETE', blame: 'service' });
      expect(facts.message).toBe(`the service returned an invalid id for the job: ${JSON.stringify(id)}`);
      expect(facts.requestId).toBe('req_test');
    },
  );

  test('is cancelled with DELETE and a key, without a body', async () => {
    const { server, client } = await startHarness({ fallback: json(202, job('dub_1', 'cancelled')) });
    expect((await client.jobs.cancel('dubbing', 'dub_1')).status).toBe('cancelled');
    const [seen] = server.seen;
    expect(seen).toMatchObject({ method: 'DELETE', target: '/v1/dubbings/dub_1', body: Buffer.alloc(0) });
    expect(seen?.headers['idempotency-key']).toBe('key-1');
    expect(seen?.headers['content-type']).toBeUndefined();
  });

  test('is listed with its filters', async () => {
    const page = { object: 'list', data: [job('dub_1')], has_more: false, next_cursor: null };
    const { server, client } = await startHarness({ fallback: json(200, page) });
    const filters = { status: 'processing', client_reference: 'a&b', limit: 2, cursor: undefined } as const;
    expect((await client.jobs.list('dubbing', filters)).data).toMatchObject([
      { id: 'dub_1', object: 'dubbing' },
    ]);
    expect(server.seen[0]?.target).toBe('/v1/dubbings?client_reference=a%26b&limit=2&status=processing');
  });

  test.each(['', '..', '\ud800'])('with the id %j is refused before anything is sent', async (id) => {
    const { server, client } = await startHarness();
    expect((await failureOf(client.jobs.get('dubbing', id))).facts.category).toBe('usage');
    expect(server.seen).toHaveLength(0);
  });

  test('whose id contains a slash is requested under its own path', async () => {
    const { server, client } = await startHarness();
    const { facts } = await failureOf(client.jobs.get('dubbing', 'a/../../credits'));
    expect(facts.category).toBe('usage');
    expect(server.seen).toHaveLength(0);
  });
});

async function collect<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of list) items.push(item);
  return items;
}

describe('a list of jobs', () => {
  test('ends if the service returns the same cursor twice', async () => {
    const page = { object: 'list', data: [job('dub_1')], has_more: true, next_cursor: 'again' };
    const { client } = await startHarness({ fallback: json(200, page) });
    const { facts } = await failureOf(collect(client.jobs.list('dubbing')));
    expect(facts).toMatchObject({ code: 'CURSOR_REPEATED', blame: 'service' });
  });
});

describe('a prepared list', () => {
  test('reports its failure where it is iterated, and nowhere else', async () => {
    const { client } = await startHarness({ fallback: problem(403, 'CAPABILITY_NOT_PERMITTED', false) });
    const unhandled: unknown[] = [];
    const collectUnhandled = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', collectUnhandled);
    onTestFinished(async () => void process.off('unhandledRejection', collectUnhandled));
    const lists: AsyncIterable<unknown>[] = [
      client.jobs.list('dubbing'),
      client.uploads.list(),
      client.credits.transactions(),
    ];
    // Sent later than they are, so they have failed when it has.
    await failureOf(client.jobs.get('dubbing', 'dub_1'));
    await setImmediate();
    expect(unhandled).toEqual([]);
    for (const list of lists) expect((await failureOf(collect(list))).code).toBe('CAPABILITY_NOT_PERMITTED');
  });
});

describe('finding a job', () => {
  const PATH = '/v1/subtitle-translations/tra_1';

  test('by a bare id asks all five kinds concurrently and returns the existing one', async () => {
    const { server, client } = await startHarness();
    server.route = only(PATH, json(200, job('tra_1')));
    const found = await client.jobs.find(' tra_1 ');
    expect(found).toMatchObject({ id: 'tra_1', object: 'subtitle_translation' });
    expect(new Set(server.seen.map((seen) => seen.target)).size).toBe(server.seen.length);
    expect(server.seen.length).toBeLessThanOrEqual(5);
  });

  test('by a bare id that no kind knows is not found', async () => {
    const { server, client } = await startHarness({ fallback: notFound });
    const { facts } = await failureOf(client.jobs.find('tra_9'));
    expect(facts).toMatchObject({ code: 'RESOURCE_NOT_FOUND', status: 404 });
    expect(server.seen).toHaveLength(5);
  });

  test('by a bare id works with a key that can read only its kind', async () => {
    const { server, client } = await startHarness({
      fallback: problem(403, 'CAPABILITY_NOT_PERMITTED', false),
    });
    server.route = (_method, target) => (target === PATH ? json(200, job('tra_1')) : null);
    expect((await client.jobs.find('tra_1')).id).toBe('tra_1');
  });

  test('by a bare id says which kinds the key may not read, since the job may be one of them', async () => {
    const { server, client } = await startHarness({
      fallback: problem(403, 'CAPABILITY_NOT_PERMITTED', false),
    });
    server.route = (_method, target) => (target === '/v1/dubbings/tra_9' ? notFound : null);
    const { facts } = await failureOf(client.jobs.find('tra_9'));
    expect(facts).toMatchObject({ status: 403, category: 'configuration', requestId: 'req_problem' });
    expect(facts.message).toBe(
      'no job tra_9 among those that the key may read; it may not read audio_separation, subtitle_recognition, ' +
        'subtitle_translation, auto_localization',
    );
  });

  test('by a bare id is not "not found" if the job may be behind a failure', async () => {
    const { server, client } = await startHarness();
    server.route = only(PATH, problem(503, 'SERVICE_TEMPORARILY_UNAVAILABLE', false));
    expect((await failureOf(client.jobs.find('tra_1'))).facts.status).toBe(503);
  });

  test.each([
    'subtitle-translations/tra_1',
    '/v1/subtitle-translations/tra_1',
    'ORIGIN/v1/subtitle-translations/tra_1',
  ])('by %s asks once', async (reference) => {
    const { server, client } = await startHarness();
    server.route = only(PATH, json(200, job('tra_1')));
    const found = await client.jobs.find(reference.replace('ORIGIN', server.origin));
    expect(found.object).toBe('subtitle_translation');
    expect(server.seen).toHaveLength(1);
  });

  test.each([
    'https://elsewhere.example/v1/dubbings/dub_1',
    'ORIGIN/v2/dubbings/dub_1',
    'dubbings/',
    '/dub_1',
    'dubbings/%zz',
    '',
  ])('by %j is refused before anything is sent', async (reference) => {
    const { server, client } = await startHarness();
    const { facts } = await failureOf(client.jobs.find(reference.replace('ORIGIN', server.origin)));
    expect(facts).toMatchObject({ category: 'usage', code: 'REFERENCE_INVALID' });
    expect(server.seen).toHaveLength(0);
  });
});

describe('the permission for a kind', () => {
  const emptyPage = json(200, { object: 'list', data: [], has_more: false, next_cursor: null });

  test('is asked for once, with the smallest list, however many calls need it', async () => {
    const { server, client } = await startHarness({ fallback: emptyPage });
    await Promise.all([1, 2, 3].map(() => client.jobs.requirePermission('dubbing')));
    await client.jobs.requirePermission('dubbing');
    expect(server.seen.map(({ target }) => target)).toEqual(['/v1/dubbings?limit=1']);
  });

  test('is not asked for if jobs of the kind were listed before', async () => {
    const { server, client } = await startHarness({ fallback: emptyPage });
    await client.jobs.list('dubbing', { limit: 50 });
    await client.jobs.requirePermission('dubbing');
    await client.jobs.requirePermission('audio_separation');
    expect(server.seen.map(({ target }) => target)).toEqual([
      '/v1/dubbings?limit=50',
      '/v1/audio-separations?limit=1',
    ]);
  });

  test('that the key lacks is a failure that names the work', async () => {
    const { client } = await startHarness({ fallback: problem(403, 'CAPABILITY_NOT_PERMITTED', false) });
    const { facts } = await failureOf(client.jobs.requirePermission('audio_separation'));
    expect(facts).toMatchObject({ code: 'CAPABILITY_NOT_PERMITTED', status: 403, requestId: 'req_problem' });
    expect(facts.message).toBe('the key has no permission for the separation');
  });

  test.each([
    ['a service that is away', problem(503, 'SERVICE_TEMPORARILY_UNAVAILABLE', true)],
    ['a list that the service does not have', notFound],
    ['a refusal for another reason', problem(403, 'LISTS_NOT_PERMITTED', false)],
    ['an answer that is not a list', json(200, { object: 'surprise' })],
  ])('counts as given after %s, and is not asked for again', async (_name, answer) => {
    const { server, client, runtime } = await startHarness({ fallback: answer });
    const begun = runtime.now();
    await client.jobs.requirePermission('dubbing');
    expect(runtime.now() - begun).toBeLessThanOrEqual(10_000);
    const requests = server.seen.length;
    await client.jobs.requirePermission('dubbing');
    expect(server.seen).toHaveLength(requests);
  });

  test('of a run that was interrupted is not asked for any more', async () => {
    const { client } = await startHarness({ fallback: emptyPage });
    const reason = new Error('interrupted');
    const asking = client.jobs.requirePermission('dubbing', { signal: AbortSignal.abort(reason) });
    await expect(asking).rejects.toBe(reason);
  });
});
