import { expect, test } from 'vitest';
import { startScene } from '../harness/scene.ts';

const UPLOAD = { purpose: 'source_video', file_name: 'a.mp4', content_type: 'video/mp4', size_bytes: 1 };

test.each([
  ['source_video', 1024 ** 3 - 1, 201],
  ['source_video', 1024 ** 3, 413],
  ['subtitle_file', 10 * 1024 ** 2 - 1, 201],
  ['subtitle_file', 10 * 1024 ** 2, 413],
])('a %s of %i bytes: %i', async (purpose, size, status) => {
  const { caller } = await startScene();
  const reply = await caller.post('/v1/uploads', { ...UPLOAD, purpose, size_bytes: size });
  expect(reply.status).toBe(status);
  if (status === 413) expect(reply.json.code).toBe('CONTENT_TOO_LARGE');
});

test('invalid fields are named', async () => {
  const { caller } = await startScene();
  const reply = await caller.post('/v1/uploads', { ...UPLOAD, purpose: 'x', size_bytes: 0, extra: 1 });
  expect(reply.status).toBe(400);
  const pointers = reply.json.errors.map((error: { pointer: string }) => error.pointer);
  expect(pointers.sort()).toEqual(['/extra', '/purpose', '/size_bytes']);
});

test('a new upload has an address, a state and an expiry', async () => {
  const { caller } = await startScene();
  const reply = await caller.post('/v1/uploads', { ...UPLOAD, client_reference: 'lesson 1' });
  const { json } = reply;
  expect(reply.headers.location).toBe(`/v1/uploads/${json.id}`);
  expect(json.id).toMatch(/^upl_[0-9a-z]{26}$/);
  expect(json).toMatchObject({ ...UPLOAD, client_reference: 'lesson 1', detail_url: reply.headers.location });
  expect(json.upload_request.expires_at).toBe(json.expires_at);
  expect(Date.parse(json.expires_at) - Date.parse(json.created_at)).toBe(3_600_000);
  expect((await caller.get(json.detail_url)).json).toEqual(json);
});

test('lists are filtered by state and purpose, and show nothing of another key', async () => {
  const { caller, callerFor, service } = await startScene();
  const video = await caller.post('/v1/uploads', UPLOAD);
  const subtitle = await caller.post('/v1/uploads', { ...UPLOAD, purpose: 'subtitle_file' });
  const idsOf = async (query: string, by = caller) =>
    (await by.get(`/v1/uploads${query}`)).json.data.map((item: { id: string }) => item.id);
  expect(await idsOf('?purpose=source_video')).toEqual([video.json.id]);
  expect(await idsOf('?status=waiting_for_upload')).toEqual([subtitle.json.id, video.json.id]);
  expect(await idsOf('?status=ready')).toEqual([]);
  const other = callerFor(await service.issueKey());
  expect(await idsOf('', other)).toEqual([]);
  expect((await other.get(video.json.detail_url)).status).toBe(404);
  expect((await other.post(`${video.json.detail_url}/completions`, { etag: 'a' })).status).toBe(404);
  expect((await caller.get('/v1/uploads?client_reference=x')).status).toBe(400);
});
