/** What each of the five kinds requires and returns, from its create request to its download. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { JOB_KIND_NAMES, type JobKind } from '../../src/protocol/kind-names.ts';
import { KINDS } from '../../src/protocol/kinds.ts';
import { type Caller, send } from './harness/caller.ts';
import { finishUpload, readySource, startScene, untilJob } from './harness/scene.ts';

const LINES = [
  { index: 1, start_ms: 0, end_ms: 1000, text: 'hello' },
  { index: 2, start_ms: 1500, end_ms: 2500, text: 'world' },
];
const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n\n2\n00:00:01,500 --> 00:00:02,500\nworld\n\n';

interface Case {
  readonly request: Record<string, unknown>;
  readonly input: Record<string, unknown>;
  readonly quantity: number;
  readonly values: Record<string, unknown>;
}

const UPPER = LINES.map((line) => ({ ...line, text: line.text.toUpperCase() }));

const CASES: Record<JobKind, Case> = {
  audio_separation: { request: {}, input: {}, quantity: 2, values: {} },
  subtitle_recognition: {
    request: { source_language: 'en' },
    input: { source_language: 'en' },
    quantity: 2,
    values: { language: 'en', lines: [{ index: 1, start_ms: 0, end_ms: 1000, text: 'hello' }] },
  },
  subtitle_translation: {
    request: { target_language: 'es', source_language: 'en' },
    input: { target_language: 'es', source_language: 'en' },
    quantity: 2,
    values: { language: 'es', lines: UPPER },
  },
  dubbing: {
    request: { target_language: 'es' },
    input: { target_language: 'es', voice_mode: 'auto' },
    quantity: 1,
    values: { duration_seconds: 1 },
  },
  auto_localization: {
    request: { target_language: 'es', subtitle_output: 'soft' },
    input: {
      source_language: 'auto',
      target_language: 'es',
      mode: 'standard',
      voice_mode: 'auto',
      subtitle_output: 'soft',
      original_audio: 'background',
      resolution: 'source',
    },
    quantity: 2,
    values: { duration_seconds: 1 },
  },
};

async function readyInput(caller: Caller, kind: JobKind): Promise<Record<string, unknown>> {
  if (KINDS[kind].input === 'video') return { source: await readySource(caller, 61) };
  const upload = await finishUpload(caller, Buffer.from(SRT), 'subtitle_file');
  return { subtitle: { type: 'upload', upload_id: upload.id } };
}

test.each(JOB_KIND_NAMES)('%s runs from a ready upload to results that can be fetched', async (name) => {
  const { caller } = await startScene();
  const kind = KINDS[name];
  const expected = CASES[name];
  const input = await readyInput(caller, name);
  const body = {
    ...input,
    ...expected.request,
    client_reference: 'lesson 1',
    callback_url: 'https://a.example/?t=secret',
  };
  const created = await caller.post(`/v1/${kind.path}`, body);
  expect(created.status).toBe(202);
  expect(created.json.id).toMatch(new RegExp(`^${kind.idPrefix}_[0-9a-z]{26}$`));
  expect(created.headers.location).toBe(`/v1/${kind.path}/${created.json.id}`);
  expect(created.json).toMatchObject({
    object: name,
    client_reference: 'lesson 1',
    detail_url: created.headers.location,
    input: { ...input, ...expected.input },
    result: null,
    error: null,
    expires_at: null,
  });
  expect(created.bytes.toString()).not.toContain('secret');

  const job = await untilJob(caller, created.json, 'succeeded');
  expect(job).toMatchObject({ progress: 100, error: null });
  expect(job.billing).toEqual({
    status: 'settled',
    unit: kind.unit,
    quantity: expected.quantity,
    reserved_credits: expected.quantity,
    charged_credits: expected.quantity,
  });
  expect(Date.parse(job.expires_at) - Date.parse(job.finished_at)).toBe(86_400_000);
  expect(Date.parse(job.started_at)).toBeLessThanOrEqual(Date.parse(job.finished_at));
  const promised = Object.entries(kind.result).filter(([, part]) => !('optional' in part));
  expect(Object.keys(job.result).sort()).toEqual(promised.map(([part]) => part).sort());
  expect(job.result).toMatchObject(expected.values);
  for (const [part, shape] of Object.entries(kind.result)) {
    if (shape.type !== 'asset') continue;
    const asset = job.result[part];
    expect(asset).toMatchObject({ content_type: shape.contentType, expires_at: job.expires_at });
    const file = await send(asset.url);
    expect(file.headers['content-type']).toBe(shape.contentType);
    expect(file.bytes).toHaveLength(asset.size_bytes);
    expect(createHash('sha256').update(file.bytes).digest('hex')).toBe(asset.sha256);
  }

  const list = await caller.get(`/v1/${kind.path}?client_reference=lesson%201&status=succeeded`);
  expect(list.json.data).toHaveLength(1);
  expect(Object.keys(list.json.data[0]).sort()).toEqual([
    'client_reference',
    'created_at',
    'detail_url',
    'id',
    'object',
    'progress',
    'status',
    'updated_at',
  ]);
  const ledger = await caller.get('/v1/credit-transactions');
  expect(ledger.json.data).toMatchObject([
    {
      object: 'credit_transaction',
      amount: -expected.quantity,
      capability: name,
      job_id: job.id,
      client_reference: 'lesson 1',
      unit: kind.unit,
      quantity: expected.quantity,
    },
  ]);
});

test('an SRT result contains the lines of the answer', async () => {
  const { caller } = await startScene();
  const created = await caller.post('/v1/subtitle-translations', {
    subtitle: { type: 'lines', lines: LINES },
    source_language: 'en',
    target_language: 'fr',
  });
  expect(created.json.input.subtitle).toEqual({ type: 'lines', line_count: 2 });
  const job = await untilJob(caller, created.json, 'succeeded');
  const file = await send(job.result.subtitle.url);
  expect(file.bytes.toString()).toBe(SRT.replace('hello', 'HELLO').replace('world', 'WORLD'));
});

test('a job is visible only under its own kind and to the key that made it', async () => {
  const { caller, callerFor, service } = await startScene();
  const body = { subtitle: { type: 'lines', lines: LINES }, target_language: 'es' };
  const { json } = await caller.post('/v1/dubbings', body);
  const other = callerFor(await service.issueKey());
  const bodies = await Promise.all([
    other.get(json.detail_url),
    other.delete(json.detail_url),
    other.get('/v1/dubbings/dub_01arz3ndektsv4rrffq69g5fav'),
    other.get('/v1/dubbings/malformed'),
    caller.get(`/v1/subtitle-translations/${json.id}`),
    caller.get(`/v1/audio-separations/${json.id}`),
  ]);
  for (const reply of bodies) {
    expect(reply.status).toBe(404);
    expect(reply.json.detail).toBe(bodies[0]?.json.detail);
  }
  expect((await other.get('/v1/dubbings')).json.data).toEqual([]);
  expect((await other.get('/v1/credit-transactions')).json.data).toEqual([]);
});

test('ledger lines of a capability that the key has lost are not shown', async () => {
  const { caller, service, credentials } = await startScene();
  const body = { subtitle: { type: 'lines', lines: LINES }, target_language: 'es' };
  await untilJob(caller, (await caller.post('/v1/dubbings', body)).json, 'succeeded');
  const count = async () => (await caller.get('/v1/credit-transactions')).json.data.length;
  expect(await count()).toBe(1);
  await service.changeKey(credentials.key, { permissions: ['subtitle_translation'] });
  expect(await count()).toBe(0);
});
