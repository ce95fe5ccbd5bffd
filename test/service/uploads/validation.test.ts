import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { finishUpload, sendUpload, startScene, until, untilValidated } from '../harness/scene.ts';
import { createSmallEngines, videoOf } from '../harness/small-engines.ts';
import { changeStore } from '../harness/stores.ts';

test('a video that has no duration fails with a message for its sender, and its bytes are removed', async () => {
  const scene = await startScene();
  const upload = await finishUpload(scene.caller, videoOf(0));
  expect(upload).toMatchObject({ status: 'failed', media: null, error: { code: 'MEDIA_VALIDATION_FAILED' } });
  expect(upload.error.message).not.toContain(scene.stateDir);
  await until(async () => (await readdir(join(scene.stateDir, 'uploads'))).length === 0);
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
  const upload = await untilValidated(second.caller, id);
  expect(upload).toMatchObject({ status: 'ready', media: { duration_seconds: 3 } });
});

test('a validation under which the service died ten times fails, and says so', async () => {
  const idle = await startScene({ config: { workers: 0 } });
  const { id, etag } = await sendUpload(idle.caller, videoOf(1));
  await idle.caller.post(`/v1/uploads/${id}/completions`, { etag });
  const died = `attempts = 1, crashes = 9, lease_owner = '4711-died', lease_until = 0`;
  changeStore(idle.stateDir, `UPDATE uploads SET ${died}`);
  const scene = await startScene({ stateDir: idle.stateDir });
  const { error } = await untilValidated(scene.caller, id);
  expect(error).toMatchObject({
    code: 'INTERNAL_ERROR',
    message: expect.stringContaining('the service died 10 times while it validated this file'),
  });
  await until(async () => (await readdir(join(scene.stateDir, 'uploads'))).length === 0);
});

test('a service without workers leaves validation to others', async () => {
  const scene = await startScene({ config: { workers: 0 } });
  const { id, etag } = await sendUpload(scene.caller, videoOf(1));
  const completed = await scene.caller.post(`/v1/uploads/${id}/completions`, { etag });
  expect(completed.json.status).toBe('validating');
  await startScene({ stateDir: scene.stateDir });
  expect(await untilValidated(scene.caller, id)).toMatchObject({ status: 'ready' });
});
