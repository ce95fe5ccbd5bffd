/** The client of users and the answers of a real S3 server: refusals in XML, ETags, ranges. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { assetsOf, type Client, type ClientEvent } from '../../src/client/index.ts';
import { scriptFaults } from '../../src/service/index.ts';
import { openBucket } from '../../src/service/storage/bucket.ts';
import { readS3Address } from '../../src/service/storage/s3-address.ts';
import { sendUpload, until } from '../service/harness/scene.ts';
import { videoOf } from '../service/harness/small-engines.ts';
import { makeFolder } from '../support/make-folder.ts';
import { S3_OWNER } from '../support/s3.ts';
import { type BucketCluster, clientOf, MISSING, makeCluster, server } from './harness/bucket-nodes.ts';

const HOUR_MS = 3600_000;

/** Signs addresses for a bucket that have expired an hour ago. */
function makeExpired({ options }: BucketCluster) {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = S3_OWNER;
  const address = readS3Address(options.storage, {});
  const bucket = openBucket(address, { accessKeyId, secretAccessKey }, Date.now);
  onTestFinished(() => bucket.close());
  const [from, until] = [Date.now() - 2 * HOUR_MS, Date.now() - HOUR_MS];
  return (method: 'GET' | 'PUT', key: string) => bucket.presign({ method, key, from, until });
}

async function makeVideo(): Promise<string> {
  const path = join(makeFolder(), 'talk.mp4');
  await writeFile(path, videoOf(60));
  return path;
}

/** A finished separation, as a user makes one. */
async function separate(client: Client) {
  const options = { purpose: 'source_video', contentType: 'video/mp4' } as const;
  const { upload } = await client.uploads.sendFile(await makeVideo(), options);
  const source = { type: 'upload', upload_id: upload.id } as const;
  const { id } = await client.jobs.create('audio_separation', { source });
  const job = await client.jobs.wait('audio_separation', id);
  const [first] = assetsOf(job).map(({ asset }) => asset);
  if (first === undefined) throw new Error(`the job is ${job.status}`);
  return first;
}

describe.skipIf(MISSING !== null)(`the client and a bucket (${MISSING ?? 'S3'})`, () => {
  it('replaces a reservation whose address has expired', async () => {
    const cluster = await makeCluster();
    const faults = scriptFaults([]);
    const node = await cluster.node({ faults });
    const { id } = await sendUpload(node.caller, videoOf(60));
    const { json } = await node.caller.get(`/v1/uploads/${id}`);
    const url = await makeExpired(cluster)('PUT', `uploads/${id}`);
    const body = JSON.stringify({ ...json, upload_request: { ...json.upload_request, url } });
    faults.add({ on: 'POST /uploads', status: 201, body });
    const events: ClientEvent[] = [];
    const client = clientOf(node, (event) => events.push(event));
    const options = { purpose: 'source_video', contentType: 'video/mp4' } as const;
    const { upload } = await client.uploads.sendFile(await makeVideo(), options);
    expect(upload.status).toBe('ready');
    expect(upload.id).not.toBe(id);
    expect(events.filter(({ type }) => type === 'notice')).toMatchObject([
      { code: 'UPLOAD_REPLACED', message: expect.stringContaining('status 403') },
    ]);
    await client.close();
  });

  it('requests another address if one is refused, continues a download, and reports that a result was deleted', async () => {
    const cluster = await makeCluster();
    const events: ClientEvent[] = [];
    const node = await cluster.node();
    const client = clientOf(node, (event) => events.push(event));
    const asset = await separate(client);
    const folder = makeFolder();
    const key = new URL(asset.url).pathname.slice(cluster.bucket.length + 2);
    const expired = { ...asset, url: await makeExpired(cluster)('GET', key) };
    const whole = join(folder, 'whole.wav');
    await expect(client.download(expired, { to: whole })).rejects.toMatchObject({
      facts: { code: 'LINK_REFUSED', origin: 'storage', status: 403 },
    });
    const done = await client.download(expired, { to: whole, refresh: async () => asset });
    expect(done.sha256).toBe(asset.sha256);

    const bytes = await readFile(whole);
    await writeFile(join(folder, '.half.wav.part'), bytes.subarray(0, bytes.length / 2));
    events.length = 0;
    await client.download(asset, { to: join(folder, 'half.wav') });
    expect(await readFile(join(folder, 'half.wav'))).toEqual(bytes);
    expect(events.filter(({ type }) => type === 'response')).toMatchObject([{ status: 206 }]);

    node.clock.advance(25 * HOUR_MS);
    await until(
      () => server().s3.list(cluster.bucket),
      (names) => names.every((name) => !name.startsWith('assets/')),
    );
    await expect(client.download(asset, { to: join(folder, 'late.wav') })).rejects.toMatchObject({
      facts: { origin: 'storage', status: 404, message: expect.stringContaining('NoSuchKey') },
    });
    await client.close();
  });
});
