import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createEngines } from '../../../src/engines/index.ts';
import { createService } from '../../../src/service/index.ts';
import { openSqliteFile } from '../../../src/service/store/sqlite-file.ts';
import { send } from '../harness/caller.ts';
import { finishUpload, makeStateDir, sendUpload, startScene, until } from '../harness/scene.ts';
import { createSmallEngines, videoOf } from '../harness/small-engines.ts';

const SRT = '1\n00:00:00,000 --> 00:00:01,500\nhello\n\n2\n00:00:02,000 --> 00:00:03,250\nworld 😀\n';

test.each([
  ['does not decode', Buffer.from('no video')],
  ['lasts 900.001 s', videoOf(900.001)],
  ['has no duration', videoOf(0)],
])('a video that %s fails with a message for its sender, and its bytes are removed', async (_name, bytes) => {
  const scene = await startScene();
  const upload = await finishUpload(scene.caller, bytes);
  expect(upload).toMatchObject({ status: 'failed', media: null, error: { code: 'MEDIA_VALIDATION_FAILED' } });
  expect(upload.error.message).not.toContain(scene.stateDir);
  await until(
    () => readdir(join(scene.stateDir, 'uploads')),
    (files) => files.length === 0,
  );
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

test('a fault outside the file is tried three times, then reported as the service’s', async () => {
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

test('a validation under which the service died ten times fails, and says so', async () => {
  const idle = await startScene({ config: { workers: 0 } });
  const { id, etag } = await sendUpload(idle.caller, videoOf(1));
  await idle.caller.post(`/v1/uploads/${id}/completions`, { etag });
  const store = openSqliteFile(join(idle.stateDir, 'service.sqlite'), { synchronous: 'FULL', advice: '' });
  store.run(`UPDATE uploads SET attempts = 1, crashes = 9, lease_owner = '4711-died', lease_until = 0`);
  store.close();
  const scene = await startScene({ stateDir: idle.stateDir });
  const { json } = await until(
    () => scene.caller.get(`/v1/uploads/${id}`),
    (reply) => reply.json.status !== 'validating',
  );
  expect(json.error).toMatchObject({
    code: 'INTERNAL_ERROR',
    message: expect.stringContaining('the service died 10 times while it validated this file'),
  });
  await until(
    () => readdir(join(scene.stateDir, 'uploads')),
    (files) => files.length === 0,
  );
});

test('an upload is ready for 7 days, and then gone with its file', async () => {
  const { caller, clock, stateDir } = await startScene();
  const upload = await finishUpload(caller, videoOf(1));
  clock.advance(7 * 86_400_000 - 60_000);
  expect((await caller.get(upload.detail_url)).json.status).toBe('ready');
  clock.advance(60_000);
  expect((await caller.get(upload.detail_url)).status).toBe(404);
  expect((await caller.get('/v1/uploads')).json.data).toEqual([]);
  await until(
    () => {
      clock.advance(60_000);
      return readdir(join(stateDir, 'uploads'));
    },
    (files) => files.length === 0,
  );
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

/** Decoding half a minute of video takes a second, on a busy machine some. */
const PATIENCE_MS = 170_000;

async function untilValidated(scene: Awaited<ReturnType<typeof startScene>>, bytes: Buffer) {
  const { id, etag } = await sendUpload(scene.caller, bytes);
  await scene.caller.post(`/v1/uploads/${id}/completions`, { etag });
  const reply = await until(
    () => scene.caller.get(`/v1/uploads/${id}`),
    ({ json }) => json.status !== 'validating',
    PATIENCE_MS,
  );
  return reply.json;
}

test(
  'a real video is measured, and a file that only claims to be one is not opened',
  async () => {
    const scene = await startScene({ engines: createEngines() });
    const sample = await readFile(join(import.meta.dirname, '../../fixtures/sample.mp4'));
    const upload = await untilValidated(scene, sample);
    expect(upload).toMatchObject({
      status: 'ready',
      media: { video: { codec: 'h264', width: 640, height: 360 }, audio: { codec: 'aac', channels: 2 } },
    });
    expect(upload.media.duration_seconds).toBeCloseTo(30.73, 1);

    const secret = join(await makeStateDir(), 'secret.ts');
    await writeFile(secret, sample);
    const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile://${secret}\n#EXT-X-ENDLIST\n`;
    const trap = await untilValidated(scene, Buffer.from(playlist));
    expect(trap).toMatchObject({ status: 'failed', media: null, error: { code: 'MEDIA_VALIDATION_FAILED' } });
    expect(trap.error.message).not.toContain(scene.stateDir);
  },
  2 * PATIENCE_MS,
);

test(
  'subtitles become a track that a voice of this machine speaks',
  async () => {
    const { caller } = await startScene({ engines: createEngines() });
    const srt = '1\n00:00:00,500 --> 00:00:02,000\nbuenos días\n\n2\n00:00:02,500 --> 00:00:04,000\nadiós\n';
    const upload = await finishUpload(caller, Buffer.from(srt), 'subtitle_file');
    const created = await caller.post('/v1/dubbings', {
      subtitle: { type: 'upload', upload_id: upload.id },
      target_language: 'es',
    });
    expect(created.status).toBe(202);
    const { json } = await until(
      () => caller.get(created.json.detail_url),
      (reply) => !['queued', 'processing'].includes(reply.json.status),
      PATIENCE_MS,
    );
    expect(json).toMatchObject({ status: 'succeeded', error: null, billing: { charged_credits: 1 } });
    expect(json.result.duration_seconds).toBeGreaterThan(3);
    const track = await send(json.result.audio.url);
    expect(track.bytes.subarray(0, 4).toString()).toBe('RIFF');
  },
  2 * PATIENCE_MS,
);
