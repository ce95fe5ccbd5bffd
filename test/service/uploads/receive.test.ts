import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Reply } from '../harness/caller.ts';
import { putObject, type Scene, startScene, until } from '../harness/scene.ts';

const TYPE = 'text/plain';

function reserve(scene: Scene, size: number, purpose = 'subtitle_file'): Promise<Reply> {
  return scene.caller.post('/v1/uploads', { purpose, file_name: 'a', content_type: TYPE, size_bytes: size });
}

/** A PUT in pieces, so that no length is declared; returns its status, or the code of the error. */
function stream(url: string, pieces: Buffer[]): Promise<number | string> {
  return new Promise((resolve) => {
    const sending = request(url, { method: 'PUT', headers: { 'Content-Type': TYPE } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sending.on('error', (error) => resolve('code' in error ? String(error.code) : error.message));
    for (const piece of pieces) sending.write(piece);
    sending.end();
  });
}

test('bytes are stored as they arrived, and the ETag is their MD5 in quotes', async () => {
  const scene = await startScene();
  const bytes = randomBytes(3 * 1024 ** 2 + 17);
  const reserved = await reserve(scene, bytes.length);
  expect(reserved.status).toBe(201);
  expect(reserved.json).toMatchObject({ status: 'waiting_for_upload', object: 'upload', media: null });
  expect(reserved.json.upload_request).toMatchObject({ method: 'PUT', headers: { 'Content-Type': TYPE } });
  const put = await putObject(reserved, bytes);
  expect(put.status).toBe(200);
  expect(put.headers.etag).toBe(`"${createHash('md5').update(bytes).digest('hex')}"`);
  const [file = ''] = await readdir(join(scene.stateDir, 'uploads'));
  expect(bytes.equals(await readFile(join(scene.stateDir, 'uploads', file)))).toBe(true);
  expect((await stat(join(scene.stateDir, 'uploads', file))).mode & 0o777).toBe(0o600);
});

test('a body without a declared length is accepted if it has the right size', async () => {
  const scene = await startScene();
  const bytes = randomBytes(200_000);
  const { url } = (await reserve(scene, bytes.length)).json.upload_request;
  expect(await stream(url, [bytes.subarray(0, 70_000), bytes.subarray(70_000)])).toBe(200);
});

test.each([
  ['one byte more', 1001],
  ['one byte fewer', 999],
])('%s than was reserved is refused, declared or not, and leaves nothing behind', async (_name, size) => {
  const scene = await startScene();
  const reserved = await reserve(scene, 1000);
  expect((await putObject(reserved, Buffer.alloc(size))).status).toBe(403);
  const pieces = [Buffer.alloc(size - 1), Buffer.alloc(1)];
  expect(await stream(reserved.json.upload_request.url, pieces)).toBe(403);
  expect(await readdir(join(scene.stateDir, 'uploads'))).toEqual([]);
  expect((await putObject(reserved, Buffer.alloc(1000))).status).toBe(200);
});

test('a body far beyond its size is cut off, not read to its end', async () => {
  const scene = await startScene();
  const { url } = (await reserve(scene, 1000)).json.upload_request;
  let sent = 0;
  const status = await new Promise((resolve) => {
    const sending = request(url, { method: 'PUT', headers: { 'Content-Type': TYPE } }, (response) => {
      response.resume();
      resolve(response.statusCode);
      sending.destroy();
    });
    const more = () => {
      sent += 65_536;
      if (!sending.destroyed) sending.write(Buffer.alloc(65_536), () => setImmediate(more));
    };
    sending.on('error', resolve);
    more();
  });
  expect(status).toBe(403);
  expect(sent).toBeLessThan(20 * 1024 ** 2);
});

test('a transfer without a byte for a minute is ended, but a steady one may be slow', async () => {
  const scene = await startScene();
  const [piece, size] = [2 * 1024 ** 2, 6 * 1024 ** 2];
  const { url } = (await reserve(scene, size)).json.upload_request;
  const headers = { 'Content-Type': TYPE, 'Content-Length': String(size) };
  const steady = request(url, { method: 'PUT', headers });
  const answered = once(steady, 'response');
  const folder = join(scene.stateDir, 'uploads');
  for (let sent = piece; sent < size; sent += piece) {
    steady.write(Buffer.alloc(piece));
    // The service writes 1 MiB at a time.
    await until(async () => {
      const [name] = await readdir(folder);
      return name !== undefined && (await stat(join(folder, name))).size > sent - piece;
    });
    scene.clock.advance(60_000);
  }
  steady.end(Buffer.alloc(piece));
  const [response] = await answered;
  expect(response.resume().statusCode).toBe(200);
  const { url: stalled } = (await reserve(scene, size)).json.upload_request;
  const cut = new Promise((resolve) => {
    const sending = request(stalled, { method: 'PUT', headers }, () => resolve('answered'));
    sending.on('error', (error) => resolve('code' in error ? error.code : ''));
    const wait = () => {
      if (sending.destroyed) return;
      scene.clock.advance(60_000);
      setTimeout(wait, 20);
    };
    sending.write(Buffer.alloc(1000), () => setTimeout(wait, 20));
  });
  expect(await cut).toBe('ECONNRESET');
  await until(async () => (await readdir(join(scene.stateDir, 'uploads'))).length === 1);
});

test('a transfer that the caller aborts leaves nothing behind', async () => {
  const scene = await startScene();
  const { url } = (await reserve(scene, 1_000_000)).json.upload_request;
  await new Promise<void>((resolve) => {
    const headers = { 'Content-Type': TYPE, 'Content-Length': '1000000' };
    const sending = request(url, { method: 'PUT', headers });
    sending.on('error', () => resolve());
    sending.write(Buffer.alloc(500_000), () => sending.destroy(new Error('gone')));
  });
  await until(async () => (await readdir(join(scene.stateDir, 'uploads'))).length === 0);
});

test('bytes that arrive after the completion of an upload do not replace earlier ones', async () => {
  const scene = await startScene();
  const srt = (word: string) => Buffer.from(`1\n00:00:00,000 --> 00:00:01,000\n${word}`.padEnd(60));
  const reserved = await reserve(scene, 60);
  const first = await putObject(reserved, srt('first'));
  const late = new Promise<number>((resolve, reject) => {
    const { url } = reserved.json.upload_request;
    const headers = { 'Content-Type': TYPE, 'Content-Length': '60' };
    const sending = request(url, { method: 'PUT', headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sending.on('error', reject);
    sending.write(srt('late').subarray(0, 30));
    void until(
      () => readdir(join(scene.stateDir, 'uploads')),
      (files) => files.length === 2,
    )
      .then(() =>
        scene.caller.post(`/v1/uploads/${reserved.json.id}/completions`, { etag: first.headers.etag }),
      )
      .then(() => sending.end(srt('late').subarray(30)), reject);
  });
  expect(await late).toBe(403);
  const files = await readdir(join(scene.stateDir, 'uploads'));
  expect(files).toHaveLength(1);
  const kept = await readFile(join(scene.stateDir, 'uploads', files[0] ?? ''), 'utf8');
  expect(kept).toContain('first');
});
