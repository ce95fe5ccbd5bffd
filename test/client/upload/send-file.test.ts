import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { UploadProgress } from '../../../src/client/index.ts';
import { failureOf } from '../support/harness.ts';
import { MIB, makeFile, startUploads, VIDEO } from '../support/start-uploads.ts';

describe('sending a file', () => {
  test.each([1, MIB, 3 * MIB + 7])('of %i bytes stores exactly its bytes', async (size) => {
    const { client, service, server } = await startUploads();
    const { path, bytes, sha256 } = await makeFile(size);
    const sent = await client.uploads.sendFile(path, VIDEO);
    expect(sent).toMatchObject({ sha256, upload: { id: 'upl_1', status: 'ready' } });
    expect(service.stored.get('/storage/1')?.equals(bytes)).toBe(true);
    const request = JSON.parse(service.reservations[0]?.body.toString() ?? '');
    expect(request).toEqual({
      purpose: 'source_video',
      file_name: 'lesson 1.mp4',
      content_type: 'video/mp4',
      size_bytes: size,
    });
    const put = server.seen.find((seen) => seen.method === 'PUT');
    expect(put?.headers['content-length']).toBe(String(size));
    expect(put?.headers['transfer-encoding']).toBeUndefined();
  });

  test('completes with the ETag of storage, or the MD5 of the bytes if there is none', async () => {
    const { client, service } = await startUploads();
    const { path, bytes } = await makeFile(10);
    const etags = () => service.completions.map((seen) => JSON.parse(seen.body.toString()).etag);
    service.etag = () => 'W/"multi-part-2"';
    await client.uploads.sendFile(path, VIDEO);
    service.etag = () => null;
    await client.uploads.sendFile(path, VIDEO);
    expect(etags()).toEqual(['"multi-part-2"', createHash('md5').update(bytes).digest('hex')]);
  });

  test('reports its progress, ending with all bytes of a ready upload', async () => {
    const { client, service } = await startUploads();
    service.statuses.push('validating', 'validating');
    const { path } = await makeFile(2 * MIB + 5);
    const told: UploadProgress[] = [];
    await client.uploads.sendFile(path, { ...VIDEO, onProgress: (progress) => told.push(progress) });
    const stages = told.map(({ stage }) => stage).filter((stage, at, all) => stage !== all[at - 1]);
    expect(stages).toEqual(['reserving', 'sending', 'completing', 'validating', 'ready']);
    const bytes = told.filter(({ stage }) => stage === 'sending').map((progress) => progress.bytes);
    expect(bytes).toEqual([0, MIB, 2 * MIB, 2 * MIB + 5]);
    expect(told.at(-1)).toEqual({
      stage: 'ready',
      bytes: 2 * MIB + 5,
      total: 2 * MIB + 5,
      uploadId: 'upl_1',
    });
  });

  test('waits while the upload has a status that this version does not know', async () => {
    const { client, service } = await startUploads();
    service.statuses.push('validating', 'scanning');
    const sent = await client.uploads.sendFile((await makeFile(1)).path, VIDEO);
    expect(sent.upload.status).toBe('ready');
  });

  test('polls soon at first, then less and less often, while it is validated', async () => {
    const { client, service, runtime } = await startUploads();
    service.statuses.push(...Array.from({ length: 12 }, () => 'validating'));
    await client.uploads.sendFile((await makeFile(1)).path, VIDEO);
    expect(runtime.slept.slice(0, 3)).toEqual([500, 500, 500]);
    expect(runtime.slept.at(-1)).toBe(5_300);
  });

  test('polls at a given pace if polling costs nothing', async () => {
    const { client, service, runtime } = await startUploads();
    service.statuses.push(...Array.from({ length: 12 }, () => 'validating'));
    await client.uploads.sendFile((await makeFile(1)).path, { ...VIDEO, everyMs: 200 });
    expect(new Set(runtime.slept)).toEqual(new Set([200]));
  });

  test('never sends a signed header or an Idempotency-Key to storage, even if instructed to', async () => {
    const { client, service, server } = await startUploads();
    const headers = {
      'X-Service-Key': 'stolen',
      'Idempotency-Key': 'k',
      Host: 'evil.example',
      'x-amz-acl': 'private',
    };
    service.shape = (upload) => ({
      ...upload,
      upload_request: { ...Object(upload.upload_request), headers },
    });
    await client.uploads.sendFile((await makeFile(5)).path, VIDEO);
    const put = server.seen.find((seen) => seen.method === 'PUT');
    const names = Object.keys(put?.headers ?? {});
    expect(names.filter((name) => name.startsWith('x-service') || name === 'idempotency-key')).toEqual([]);
    expect(put?.headers.host).toBe(new URL(server.origin).host);
    expect(put?.headers['x-amz-acl']).toBe('private');
  });

  test('refuses a header that would smuggle a line break', async () => {
    const { client, service, server } = await startUploads();
    const headers = [{ name: 'x-a', value: 'b\r\nx-service-key: stolen' }];
    service.shape = (upload) => ({
      ...upload,
      upload_request: { ...Object(upload.upload_request), headers },
    });
    const { facts } = await failureOf(client.uploads.sendFile((await makeFile(5)).path, VIDEO));
    expect(facts.message).toContain('upload_request.headers');
    expect(server.seen.some((seen) => seen.method === 'PUT')).toBe(false);
  });

  test('continues an upload of an earlier run with the same key, without sending the bytes twice', async () => {
    const { client, service, server } = await startUploads();
    service.shape = (upload) => ({ ...upload, status: 'ready', upload_request: null });
    const { path, sha256 } = await makeFile(MIB + 3);
    const sent = await client.uploads.sendFile(path, { ...VIDEO, idempotencyKey: 'run-1' });
    expect(sent.sha256).toBe(sha256);
    expect(server.seen.map((seen) => seen.method)).toEqual(['POST']);
    expect(server.seen[0]?.headers['idempotency-key']).toBe('run-1');
  });

  test('ends as refused, with the reason, if the service does not accept the file', async () => {
    const { client, service } = await startUploads();
    service.statuses.push('validating', 'failed');
    const { facts } = await failureOf(client.uploads.sendFile((await makeFile(5)).path, VIDEO));
    expect(facts).toMatchObject({ category: 'refused', code: 'MEDIA_CORRUPT', requestId: 'req_test' });
    expect(facts.message).toContain('it does not decode');
  });
});

describe('a reservation by a service that differs', () => {
  test.each([
    ['upload', { upload_url: 'URL', headers: [{ name: 'X-Amz-Meta', value: 'v' }] }],
    ['upload_target', { url: 'URL', method: 'put', headers: { 'X-Amz-Meta': 'v' } }],
    ['direct_upload', { upload_url: 'URL', headers: [{ name: 'x-amz-meta', value: 'v' }] }],
  ])('under the name %s is understood', async (name, target) => {
    const { client, service, server } = await startUploads();
    service.shape = ({ upload_request, ...upload }) => {
      const { url } = Object(upload_request);
      return { ...upload, [name]: JSON.parse(JSON.stringify(target).replace('URL', url)), new_field: [1] };
    };
    await client.uploads.sendFile((await makeFile(5)).path, VIDEO);
    expect(server.seen.find((seen) => seen.method === 'PUT')?.headers['x-amz-meta']).toBe('v');
  });

  test('without the address fails with the name of the field and the request', async () => {
    const { client, service } = await startUploads();
    service.shape = ({ upload_request: _dropped, ...upload }) => upload;
    const { facts } = await failureOf(client.uploads.sendFile((await makeFile(5)).path, VIDEO));
    expect(facts).toMatchObject({ code: 'ANSWER_INCOMPLETE', requestId: 'req_test' });
    expect(facts.message).toContain('`upload_request`');
  });
});
