import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createService } from '../../../src/service/index.ts';
import { finishUpload, sendUpload, startScene, until } from '../harness/scene.ts';
import { createSmallEngines, videoOf } from '../harness/small-engines.ts';

const SRT = '1\n00:00:00,000 --> 00:00:01,500\nhello\n\n2\n00:00:02,000 --> 00:00:03,250\nworld 😀\n';

test.each([
  ['does not decode', Buffer.from('no video')],
  ['lasts 900.001 s', videoOf(900.001)],
  ['has no duration', videoOf(0)],
])('a video that %s fails with words for its sender, and its bytes go', async (_name, bytes) => {
  const scene = await startScene();
  const upload = await finishUpload(scene.caller, bytes);
  expect(upload).toMatchObject({ status: 'failed', media: null, error: { code: 'MEDIA_VALIDATION_FAILED' } });
  expect(upload.error.message).not.toContain(scene.stateDir);
  await until(
    () => readdir(join(scene.stateDir, 'uploads')),
    (files) => files.length === 0,
  );
});

test('a video of 900.000 s passes', async () => {
  const { caller } = await startScene();
  expect(await finishUpload(caller, videoOf(900))).toMatchObject({ status: 'ready' });
});

test('a subtitle file is counted', async () => {
  const { caller } = await startScene();
  const upload = await finishUpload(caller, Buffer.from(SRT), 'subtitle_file');
  expect(upload).toMatchObject({
    status: 'ready',
    media: null,
    subtitle: { lines: 2, duration_seconds: 3.25 },
  });
  expect(Object.keys(upload.subtitle).sort()).toEqual(['duration_seconds', 'lines']);
});

test.each([
  ['is not UTF-8', Buffer.concat([Buffer.from(SRT), Buffer.from([0xff, 0xfe])])],
  ['is not SRT', Buffer.from('hello world')],
  ['has 10,001 lines', Buffer.from('1\n00:00:00,000 --> 00:00:01,000\na\n\n'.repeat(10_001))],
])('a subtitle file that %s fails', async (_name, bytes) => {
  const { caller } = await startScene();
  const upload = await finishUpload(caller, bytes, 'subtitle_file');
  expect(upload).toMatchObject({ status: 'failed', error: { code: 'SUBTITLE_VALIDATION_FAILED' } });
});

test('a subtitle file of 10,000 lines passes', async () => {
  const { caller } = await startScene();
  const bytes = Buffer.from('1\n00:00:00,000 --> 00:00:01,000\na\n\n'.repeat(10_000));
  expect(await finishUpload(caller, bytes, 'subtitle_file')).toMatchObject({ subtitle: { lines: 10_000 } });
});

test('a fault that is not the file’s is tried three times, then reported as the service’s', async () => {
  const engines = createSmallEngines();
  let tries = 0;
  const inspect = async () => {
    tries += 1;
    throw new Error('the probe of /a/secret/path broke');
  };
  const scene = await startScene({ engines: { ...engines, inspect } });
  const { id, etag } = await sendUpload(scene.caller, videoOf(1));
  await scene.caller.post(`/v1/uploads/${id}/completions`, { etag });
  const { json } = await until(
    () => {
      scene.clock.advance(5000);
      return scene.caller.get(`/v1/uploads/${id}`);
    },
    (reply) => reply.json.status !== 'validating',
  );
  expect(json).toMatchObject({ status: 'failed', error: { code: 'INTERNAL_ERROR' } });
  expect(json.error.message).not.toContain('/a/secret/path');
  expect(tries).toBe(3);
});

test('a validation that a closing service leaves unfinished is done by the next one', async () => {
  const engines = createSmallEngines();
  const inspect = (_file: string, signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  const first = await startScene({ engines: { ...engines, inspect } });
  const { id, etag } = await sendUpload(first.caller, videoOf(3));
  await first.caller.post(`/v1/uploads/${id}/completions`, { etag });
  await first.service.close();
  const second = await startScene({ stateDir: first.stateDir });
  const { json } = await until(
    () => second.caller.get(`/v1/uploads/${id}`),
    (reply) => reply.json.status !== 'validating',
  );
  expect(json).toMatchObject({ status: 'ready', media: { duration_seconds: 3 } });
});

test('an upload is ready for 7 days, expired for one more, and then forgotten', async () => {
  const { caller, clock, stateDir } = await startScene();
  const upload = await finishUpload(caller, videoOf(1));
  clock.advance(7 * 86_400_000 - 60_000);
  expect((await caller.get(upload.detail_url)).json.status).toBe('ready');
  clock.advance(60_000);
  expect((await caller.get(upload.detail_url)).json.status).toBe('expired');
  const list = await caller.get('/v1/uploads?status=expired');
  expect(list.json.data).toHaveLength(1);
  await until(
    () => {
      clock.advance(60_000);
      return readdir(join(stateDir, 'uploads'));
    },
    (files) => files.length === 0,
  );
  clock.advance(86_400_000);
  expect((await caller.get(upload.detail_url)).status).toBe(404);
  expect((await caller.get('/v1/uploads')).json.data).toEqual([]);
});

test('a service without workers leaves validation to others', async () => {
  const scene = await startScene({ config: { workers: 0 } });
  const { id, etag } = await sendUpload(scene.caller, videoOf(1));
  const completed = await scene.caller.post(`/v1/uploads/${id}/completions`, { etag });
  expect(completed.json.status).toBe('validating');
  const helper = await createService({ stateDir: scene.stateDir, engines: createSmallEngines() });
  await until(
    () => scene.caller.get(`/v1/uploads/${id}`),
    (reply) => reply.json.status === 'ready',
  );
  await helper.close();
});
