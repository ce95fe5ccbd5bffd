import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { failureOf } from '../support/harness.ts';
import { answer, html, problem, type Reply, reset, startServer } from '../support/scripted-server.ts';
import { MIB, makeFile, startUploads, VIDEO } from '../support/start-uploads.ts';

describe('failing storage', () => {
  const early = (reply: Reply): Reply => Object.assign(reply, { early: true });

  test('is tried again with the whole file', async () => {
    const { client, service } = await startUploads();
    const slowDown = answer(503, { 'retry-after': '7' }, '<Error><Code>SlowDown</Code></Error>');
    service.putScript.push(reset, slowDown);
    const { path, bytes } = await makeFile(2 * MIB);
    await client.uploads.sendFile(path, VIDEO);
    expect(service.stored.get('/storage/1')?.equals(bytes)).toBe(true);
    expect(service.reservations).toHaveLength(1);
  });

  test('whose link has expired gets one new reservation under a new key', async () => {
    const { client, service, events } = await startUploads();
    service.putScript.push(answer(410, {}, '<Error><Message>Request has expired</Message></Error>'));
    const { path, bytes } = await makeFile(MIB + 1);
    const { upload } = await client.uploads.sendFile(path, VIDEO);
    expect(upload.id).toBe('upl_2');
    expect(service.stored.get('/storage/2')?.equals(bytes)).toBe(true);
    expect(new Set(service.reservations.map((seen) => seen.headers['idempotency-key'])).size).toBe(2);
    const notices = events.filter((event) => event.type === 'notice');
    expect(notices).toMatchObject([{ code: 'UPLOAD_REPLACED' }]);
  });

  test('that refuses the second reservation too ends the upload', async () => {
    const { client, service } = await startUploads();
    service.putScript.push(answer(403, {}), answer(403, {}));
    const { facts } = await failureOf(client.uploads.sendFile((await makeFile(5)).path, VIDEO));
    expect(facts).toMatchObject({ code: 'UPLOAD_LAPSED', category: 'expired' });
    expect(service.reservations).toHaveLength(2);
  });

  test('behind a firewall that refuses gets one new reservation, and is not blamed', async () => {
    const { client, service } = await startUploads();
    service.putScript.push(html(403, '<h1>Blocked by the firewall</h1>'), html(403, '<h1>Blocked</h1>'));
    const { facts } = await failureOf(client.uploads.sendFile((await makeFile(5)).path, VIDEO));
    expect(facts).toMatchObject({ category: 'configuration', code: 'UPLOAD_BLOCKED', origin: 'gateway' });
    expect(facts.message).toBe(
      'a proxy, gateway or firewall in front of storage refused the request (status 403: Blocked)',
    );
    expect(service.reservations).toHaveLength(2);
  });

  test('behind a login page is tried again: the page is not a stored file', async () => {
    const { client, service } = await startUploads();
    service.putScript.push(html(200, '<html><h1>Sign in</h1></html>'));
    const { path, bytes } = await makeFile(5);
    await client.uploads.sendFile(path, VIDEO);
    expect(service.stored.get('/storage/1')?.equals(bytes)).toBe(true);
    expect(service.reservations).toHaveLength(1);
  });

  test('is not even contacted if the reservation has expired by the clock', async () => {
    const { client, service, runtime, server } = await startUploads();
    service.shape = (upload, number) => {
      const expires_at = new Date(runtime.now() + (number === 1 ? -1 : 60_000)).toISOString();
      return { ...upload, upload_request: { ...Object(upload.upload_request), expires_at } };
    };
    const { upload } = await client.uploads.sendFile((await makeFile(5)).path, VIDEO);
    expect(upload.id).toBe('upl_2');
    expect(server.seen.filter((seen) => seen.method === 'PUT')).toHaveLength(1);
  });

  test('whose object does not match at completion gets the file once more', async () => {
    const { client, service } = await startUploads();
    service.completion = problem(409, 'UPLOAD_ETAG_MISMATCH', false);
    const { upload } = await client.uploads.sendFile((await makeFile(5)).path, VIDEO);
    expect(upload.id).toBe('upl_2');
    expect(service.stored.size).toBe(2);
  });

  test('that expires during validation gets the file once more', async () => {
    const { client, service } = await startUploads();
    service.statuses.push('expired');
    expect((await client.uploads.sendFile((await makeFile(5)).path, VIDEO)).upload.id).toBe('upl_2');
  });

  test('keeps the pre-signed address secret, whatever fails', async () => {
    for (const fault of [reset, answer(403, {}), answer(500, {}), answer(400, {})]) {
      const { client, service, events } = await startUploads();
      service.putScript.push(...Array.from({ length: 10 }, () => fault));
      const failure = await failureOf(client.uploads.sendFile((await makeFile(5)).path, VIDEO));
      expect(inspect([events, failure], { depth: 10 })).not.toContain('canary');
    }
  });

  test('that redirects gets the whole file once more, with the headers of the upload only', async () => {
    const elsewhere = await startServer(answer(200, { etag: '"there"' }));
    onTestFinished(elsewhere.close);
    const { client, service, server, events } = await startUploads();
    service.shape = (upload) => {
      const { headers, ...target } = Object(upload.upload_request);
      return {
        ...upload,
        upload_request: { ...target, headers: { ...headers, 'x-storage-class': 'cold' } },
      };
    };
    service.putScript.push(early(answer(308, { location: `${elsewhere.origin}/take?token=canary` })));
    const { path, bytes, sha256 } = await makeFile(2 * MIB);
    const sent = await client.uploads.sendFile(path, VIDEO);
    expect(sent).toMatchObject({ sha256, upload: { id: 'upl_1' } });
    const [first] = server.seen.filter(({ method }) => method === 'PUT');
    const [second] = elsewhere.seen;
    expect(second).toMatchObject({ method: 'PUT', target: '/take?token=canary' });
    expect(second?.body.equals(bytes)).toBe(true);
    expect({ ...second?.headers, host: '' }).toEqual({ ...first?.headers, host: '' });
    expect(second?.headers).toMatchObject({ 'x-storage-class': 'cold', 'content-length': String(2 * MIB) });
    const completed = server.seen.find(({ target }) => target.endsWith('/completions'));
    expect(String(completed?.body)).toContain('there');
    expect(inspect(events, { depth: 10 })).not.toContain('canary');
  });

  test.each([
    ['a second time', 'https://127.0.0.1:1/', 'a second redirect follows the first'],
    ['to plain http elsewhere', 'http://storage.example/take?canary', 'a redirect leads away from https'],
    ['nowhere', undefined, 'a redirect has no address'],
  ])('that redirects %s is not followed, and its address not shown', async (how, location, why) => {
    const { client, service, server, events } = await startUploads();
    const here = answer(307, { location: `${server.origin}/storage/1?canary` });
    if (how === 'a second time') service.putScript.push(here, here);
    else service.putScript.push(answer(307, location === undefined ? {} : { location }));
    const failure = await failureOf(client.uploads.sendFile((await makeFile(5)).path, VIDEO));
    expect(failure.facts).toMatchObject({ category: 'refused', code: 'STORAGE_REFUSED', status: 307 });
    expect(failure.message).toBe(`storage did not accept the file (status 307: ${why})`);
    expect(service.reservations).toHaveLength(1);
    expect(inspect([events, failure], { depth: 10 })).not.toContain('canary');
  });

  test('that answers with a redirect of another method is not followed', async () => {
    const { client, service } = await startUploads();
    service.putScript.push(answer(302, { location: '/storage/2' }));
    const { facts } = await failureOf(client.uploads.sendFile((await makeFile(5)).path, VIDEO));
    expect(facts).toMatchObject({ category: 'refused', code: 'STORAGE_REFUSED', status: 302 });
    expect(service.stored.size).toBe(0);
  });

  test('that refuses in mid-stream is noticed', async () => {
    const { client, service } = await startUploads();
    const { path } = await makeFile(24 * MIB);
    service.putScript.push(early(answer(413, {}, '<Error><Code>EntityTooLarge</Code></Error>')));
    const { facts } = await failureOf(client.uploads.sendFile(path, VIDEO));
    expect(facts).toMatchObject({ category: 'refused', code: 'CONTENT_TOO_LARGE' });
  });

  test.each([
    ['that never answers', 5],
    ['that stops reading', 24 * MIB],
  ])('%s is given up after the idle time', async (_how, size) => {
    const timeouts = { idleMs: 50, storedMs: 50 };
    const { client, service, events } = await startUploads({ timeouts });
    service.putScript.push(...Array.from({ length: 5 }, () => early(() => {})));
    const { facts } = await failureOf(client.uploads.sendFile((await makeFile(size)).path, VIDEO));
    expect(facts).toMatchObject({ category: 'temporary', code: 'ANSWER_TIMEOUT' });
    // Counted where they leave: on a busy machine the server may see one only after it was given up.
    expect(events.filter((event) => event.type === 'request' && event.method === 'PUT')).toHaveLength(5);
  });

  test.each(['http://storage.example/put', 'https://user:pass@storage.example/put'])(
    'at %s is never written to',
    async (url) => {
      const { client, service, server } = await startUploads();
      service.shape = (upload) => ({ ...upload, upload_request: { url } });
      const { facts } = await failureOf(client.uploads.sendFile((await makeFile(5)).path, VIDEO));
      expect(facts.code).toBe('UPLOAD_ADDRESS_REFUSED');
      expect(server.seen).toHaveLength(1);
    },
  );
});
