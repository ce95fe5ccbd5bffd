/** Uploads and results in a real bucket: an API that never sees their bytes, and workers that share nothing else. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assetsOf } from '../../src/client/index.ts';
import { createCaller, exchange } from '../service/harness/caller.ts';
import {
  putObject,
  readySource,
  sendUpload,
  until,
  untilJob,
  untilValidated,
} from '../service/harness/scene.ts';
import { videoOf } from '../service/harness/small-engines.ts';
import { makeFolder } from '../support/make-folder.ts';
import { startMain } from '../support/run-main.ts';
import { clientOf, MISSING, makeCluster, ownStorage, server, useOwnStorage } from './harness/bucket-nodes.ts';

useOwnStorage();

const SEPARATIONS = '/v1/audio-separations';
const TOO_OLD_MS = 8 * 24 * 3600_000;

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

describe.skipIf(MISSING !== null)(`storage in a bucket (${MISSING ?? 'S3'})`, () => {
  it('carries a video from the client through a worker back to the client, past the API', async () => {
    const cluster = await makeCluster();
    const api = await cluster.node({ config: { workers: 0 } });
    const worker = await cluster.node();
    const folder = makeFolder();
    const video = join(folder, 'talk.mp4');
    await writeFile(video, videoOf(90));
    const client = clientOf(api);
    const { upload, sha256 } = await client.uploads.sendFile(video, {
      purpose: 'source_video',
      contentType: 'video/mp4',
    });
    expect(upload).toMatchObject({ status: 'ready', media: { duration_seconds: 90 } });

    const source = { type: 'upload', upload_id: upload.id } as const;
    const { id } = await client.jobs.create('auto_localization', { source, target_language: 'es' });
    const job = await client.jobs.wait('auto_localization', id);
    const [asset] = assetsOf(job).map((each) => each.asset);
    if (asset === undefined) throw new Error(`the job is ${job.status} and has no video`);
    const { url } = asset;
    expect(url).toMatch(`${server().s3.endpoint}/${cluster.bucket}/assets/`);
    const done = await client.download(asset, { to: join(folder, 'talk.es.mp4') });
    // The small engines give the video back as it was.
    expect(done.sha256).toBe(sha256);
    const { headers } = await exchange(url);
    expect(headers['content-disposition']).toBe(`attachment; filename="${id}.video.mp4"`);
    expect(headers['content-type']).toBe('video/mp4');
    const again = await client.jobs.get('auto_localization', id);
    expect(assetsOf(again).map((each) => each.asset.url)).toEqual([url]);
    await client.close();

    expect(worker.engines.begun).toHaveLength(1);
    for (const { stateDir } of [api, worker]) {
      for (const part of ['uploads', 'assets', 'work'])
        expect(await filesBelow(join(stateDir, part))).toEqual([]);
    }
  });

  it('is used by `vloc serve` as configured by variables and settings', async () => {
    const { options, bucket } = await makeCluster();
    const stateDir = makeFolder();
    const settings = join(stateDir, 'service.json');
    await writeFile(settings, JSON.stringify({ storage: options.storage }));
    const env = { ...options.env, VLOC_STATE_DIR: stateDir, VLOC_DATABASE: options.database };
    const serving = startMain(['serve', '--config', settings, '--output', 'json'], { env });
    const line = await until(serving.stdout, (text) => text.includes('\n'));
    const { base_url: url, key, secret } = JSON.parse(line);
    const caller = createCaller(url, { key, secret }, Date.now);
    const { id } = await sendUpload(caller, videoOf(5));
    expect(await server().s3.list(bucket)).toEqual([`uploads/${id}`, 'vloc.cluster']);
    serving.send('SIGTERM');
    const { code, stdout, stderr } = await serving.ended;
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain(options.env.AWS_SECRET_ACCESS_KEY);
  });

  it('does not work on bytes that were replaced after they had been checked', async () => {
    const cluster = await makeCluster();
    const { caller } = await cluster.node();
    const reserved = await caller.post('/v1/uploads', {
      purpose: 'source_video',
      file_name: 'a.mp4',
      content_type: 'video/mp4',
      size_bytes: videoOf(60).length,
    });
    const { etag } = (await putObject(reserved, videoOf(60))).headers;
    const { id } = reserved.json;
    await caller.post(`/v1/uploads/${id}/completions`, { etag });
    expect(await untilValidated(caller, id)).toMatchObject({ status: 'ready' });
    expect((await putObject(reserved, videoOf(61))).status).toBe(200);
    const source = { type: 'upload', upload_id: id };
    const job = (await caller.post(SEPARATIONS, { source })).json;
    expect(await untilJob(caller, job, 'failed')).toMatchObject({
      error: { code: 'STORAGE_ERROR', message: expect.stringContaining('replaced') },
      billing: { charged_credits: 0 },
    });
  });

  it('answers 503 while the storage is down, and loses nothing', async () => {
    const cluster = await makeCluster();
    const { caller, logged } = await cluster.node();
    const s3 = ownStorage();
    const source = await readySource(caller);
    const waiting = await sendUpload(caller, videoOf(30));
    await s3.kill();
    const completion = () =>
      caller.post(`/v1/uploads/${waiting.id}/completions`, { etag: waiting.etag }, 'once');
    const refused = await completion();
    expect(refused.json).toMatchObject({
      status: 503,
      code: 'SERVICE_TEMPORARILY_UNAVAILABLE',
      retryable: true,
    });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    const job = (await caller.post(SEPARATIONS, { source })).json;
    await until(() => logged.some(({ message }) => message.includes('the attempt does not count')));
    await s3.start();
    expect((await completion()).status).toBe(202);
    const done = await untilJob(caller, job, 'succeeded', 'failed');
    expect(done).toMatchObject({ status: 'succeeded', billing: { status: 'settled' } });
    const bytes = await exchange(done.result.vocal_audio.url);
    expect(bytes.bytes).toHaveLength(done.result.vocal_audio.size_bytes);
  });

  it('stores a result once the storage is back, without computing it again', async () => {
    const cluster = await makeCluster();
    const { caller, engines, logged } = await cluster.node({ config: { attempts: 1 } });
    const s3 = ownStorage();
    const source = await readySource(caller);
    engines.hold();
    const job = (await caller.post(SEPARATIONS, { source })).json;
    await until(() => engines.begun.length === 1);
    await s3.kill();
    engines.letGo();
    await until(() => logged.some(({ message }) => message.startsWith('a result is not stored yet')));
    await s3.start();
    expect(await untilJob(caller, job, 'succeeded', 'failed')).toMatchObject({ status: 'succeeded' });
    expect(engines.begun).toHaveLength(1);
  });

  it('removes what has expired and what crashed attempts left, and nothing of others', async () => {
    const cluster = await makeCluster();
    const { caller, clock, stateDir } = await cluster.node();
    const { s3 } = server();
    const source = await readySource(caller);
    const job = (await caller.post(SEPARATIONS, { source })).json;
    await untilJob(caller, job, 'succeeded');
    await sendUpload(caller, videoOf(10));
    await s3.write(cluster.bucket, `assets/${job.id}-${'0'.repeat(24)}/vocal_audio`, 'of a crashed attempt');
    await s3.write(cluster.bucket, `assets/notes-of-somebody/read-me`, 'not of vloc');
    await s3.write(cluster.bucket, `uploads/upl_${'0'.repeat(26)}`, 'no record');
    const left = join(stateDir, 'work', `${job.id}-${'0'.repeat(24)}`);
    await mkdir(left);
    expect(await s3.list(cluster.bucket)).toHaveLength(8);
    clock.advance(TOO_OLD_MS);
    await until(async () => (await s3.list(cluster.bucket)).length === 2);
    expect(await s3.list(cluster.bucket)).toEqual(['assets/notes-of-somebody/read-me', 'vloc.cluster']);
    await until(async () => (await readdir(join(stateDir, 'work'))).length === 0);
  });
});
