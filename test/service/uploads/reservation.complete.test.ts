import { expect, test } from 'vitest';
import { finishUpload, sendUpload, startScene, until } from '../harness/scene.ts';
import { videoOf } from '../harness/small-engines.ts';

test('a completed upload is validated and then ready, with the measured values', async () => {
  const { caller } = await startScene();
  const { id, etag } = await sendUpload(caller, videoOf(12.5));
  const completed = await caller.post(`/v1/uploads/${id}/completions`, { etag });
  expect(completed.status).toBe(202);
  expect(completed.headers['idempotency-replayed']).toBe('false');
  expect(['validating', 'ready']).toContain(completed.json.status);
  const { json } = await until(
    () => caller.get(`/v1/uploads/${id}`),
    (reply) => reply.json.status !== 'validating',
  );
  expect(json).toMatchObject({ status: 'ready', error: null, subtitle: null, upload_request: null });
  expect(json.media).toMatchObject({ duration_seconds: 12.5, video: { width: 320 }, audio: { channels: 2 } });
  expect(Date.parse(json.expires_at) - Date.parse(json.created_at)).toBe(7 * 86_400_000);
});

test('completing a ready upload answers 200, also with an ETag without quotes', async () => {
  const { caller } = await startScene();
  const { id, etag } = await sendUpload(caller, videoOf(1));
  await caller.post(`/v1/uploads/${id}/completions`, { etag });
  await until(
    () => caller.get(`/v1/uploads/${id}`),
    (reply) => reply.json.status === 'ready',
  );
  const again = await caller.post(`/v1/uploads/${id}/completions`, { etag: etag.replaceAll('"', '') });
  expect(again.status).toBe(200);
  expect(again.json.status).toBe('ready');
});

test('an upload cannot be completed before its bytes arrived, or with another ETag', async () => {
  const { caller } = await startScene();
  const reserved = await caller.post('/v1/uploads', {
    purpose: 'source_video',
    file_name: 'a',
    content_type: 'video/mp4',
    size_bytes: 5,
  });
  const early = await caller.post(`/v1/uploads/${reserved.json.id}/completions`, { etag: '"abc"' });
  expect([early.status, early.json.code]).toEqual([409, 'UPLOAD_STATE_CONFLICT']);
  const { id } = await sendUpload(caller, videoOf(1));
  const wrong = await caller.post(`/v1/uploads/${id}/completions`, { etag: '"0123"' });
  expect([wrong.status, wrong.json.code]).toEqual([409, 'UPLOAD_ETAG_MISMATCH']);
  expect((await caller.post(`/v1/uploads/${id}/completions`, { etag: 'not an etag' })).status).toBe(400);
  expect((await caller.get(`/v1/uploads/${id}`)).json.status).toBe('waiting_for_upload');
});

test('a failed or expired upload can no longer be completed', async () => {
  const { caller, clock } = await startScene();
  const failed = await finishUpload(caller, Buffer.from('no video'));
  const { id, etag } = await sendUpload(caller, videoOf(1));
  clock.advance(3_600_000);
  const replies = [
    await caller.post(`/v1/uploads/${failed.id}/completions`, { etag }),
    await caller.post(`/v1/uploads/${id}/completions`, { etag }),
  ];
  expect(replies.map((reply) => reply.json.code)).toEqual(['UPLOAD_STATE_CONFLICT', 'UPLOAD_STATE_CONFLICT']);
});
