/** Starts on real buckets that cannot be used: each ends with what is wrong and what to do, before anything listens. */
import { createServer, request } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Failure } from '../../../src/service/index.ts';
import { openCheckedBucket } from '../../../src/service/storage/open-s3.ts';
import { MISSING, makeCluster, server } from '../../cluster/harness/bucket-nodes.ts';
import { makeCertificate } from '../../support/certificates.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { freshAccount } from '../../support/postgres.ts';
import { S3_OWNER, S3_READER } from '../../support/s3.ts';
import { startScene } from '../harness/scene.ts';

/** The code, the message and the advice of the failure that some work ends with. */
async function failureOf(work: Promise<unknown>): Promise<{ code: string; message: string; advice: string }> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Failure)) throw error ?? new Error('it did not fail');
  expect(error.facts.category).toBe('configuration');
  const { code, message, advice = '' } = error.facts;
  expect(`${message} ${advice}`).not.toMatch(/testing|reading/);
  return { code, message, advice };
}

const open = (address: string, env: Record<string, string> = S3_OWNER) =>
  openCheckedBucket(address, env).then(({ bucket }) => bucket.close());

/** The address of a bucket at another endpoint. */
function behind(origin: string, bucket: string): string {
  return server()
    .s3.address(bucket)
    .replace(encodeURIComponent(server().s3.endpoint), encodeURIComponent(origin));
}

/** A front that shows a bucket to everybody, if Swift does: its own addresses for that have another form. */
async function startOpenFront(): Promise<string> {
  const { endpoint } = server().s3;
  const front = createServer((asked, answer) => {
    const isSigned = asked.headers.authorization !== undefined;
    const path = isSigned ? asked.url : `/v1/AUTH_test${asked.url}`;
    const passed = request(endpoint + path, { method: asked.method, headers: asked.headers }, (response) => {
      answer.writeHead(response.statusCode ?? 0, response.headers);
      response.pipe(answer);
    });
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void front.close());
  return `http://127.0.0.1:${(front.address() as AddressInfo).port}`; // a TCP server has one
}

describe.skipIf(MISSING !== null)(`opening a bucket (${MISSING ?? 'S3'})`, () => {
  it('opens a bucket without changing it', async () => {
    const { s3 } = server();
    await s3.createBucket('usable');
    await open(s3.address('usable'));
    expect(await s3.list('usable')).toEqual([]);
  });

  it('reports a missing bucket', async () => {
    expect(await failureOf(open(server().s3.address('not-there')))).toMatchObject({
      code: 'STORAGE_UNUSABLE',
      message: expect.stringContaining('does not exist'),
      advice: expect.stringContaining('Create it'),
    });
  });

  it('reports insufficient rights for a bucket that is read-only', async () => {
    const { s3 } = server();
    await s3.createBucket('read-only', { read: 'test:reader' });
    expect(await failureOf(open(s3.address('read-only'), S3_READER))).toMatchObject({
      code: 'STORAGE_UNUSABLE',
      message: expect.stringContaining('refuses access'),
      advice: expect.stringContaining('s3:PutObject'),
    });
  });

  it.each([
    ['an unknown key', { ...S3_OWNER, AWS_ACCESS_KEY_ID: 'test:nobody' }],
    ['a wrong secret', { ...S3_OWNER, AWS_SECRET_ACCESS_KEY: 'guessed' }],
  ])('reports that the storage does not accept %s', async (_name, env) => {
    await server().s3.createBucket('of-others');
    expect(await failureOf(open(server().s3.address('of-others'), env))).toMatchObject({
      code: 'STORAGE_UNUSABLE',
      message: expect.stringContaining('does not accept the credentials'),
      advice: expect.stringContaining('AWS_SECRET_ACCESS_KEY'),
    });
  });

  it('reports missing credentials', async () => {
    expect(await failureOf(open(server().s3.address('usable'), {}))).toMatchObject({
      code: 'STORAGE_NO_CREDENTIALS',
    });
  });

  it('reports that the bucket is in another region', async () => {
    const address = server().s3.address('usable').replace('us-east-1', 'eu-west-1');
    expect(await failureOf(open(address))).toMatchObject({
      message: expect.stringContaining('another region'),
    });
  });

  it('reports that the clock of this machine is wrong', async () => {
    const late = openCheckedBucket(server().s3.address('usable'), S3_OWNER, () => Date.now() - 3600_000);
    expect(await failureOf(late)).toMatchObject({
      code: 'CLOCK_SKEW',
      advice: expect.stringContaining('NTP'),
    });
  });

  it('refuses a public bucket', async () => {
    const { s3 } = server();
    const front = await startOpenFront();
    await s3.createBucket('public', { read: '.r:*' });
    expect(await failureOf(open(behind(front, 'public')))).toMatchObject({
      code: 'STORAGE_PUBLIC',
      message: expect.stringContaining('everybody can read'),
    });
    expect(await s3.list('public')).toEqual([]);
    await s3.createBucket('listed', { read: '.r:*,.rlistings' });
    expect((await failureOf(open(behind(front, 'listed')))).code).toBe('STORAGE_PUBLIC');
    await s3.createBucket('private');
    await open(behind(front, 'private'));
  });

  it('reports that nothing listens at the endpoint', async () => {
    expect(await failureOf(open(behind('http://127.0.0.1:9', 'usable')))).toMatchObject({
      code: 'STORAGE_UNUSABLE',
      message: expect.stringContaining('nothing listens there'),
    });
  });

  it('refuses an untrusted certificate', async () => {
    const secure = createSecureServer(makeCertificate(makeFolder(), 'IP:127.0.0.1'), (_asked, answer) =>
      answer.end(),
    );
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void secure.close());
    const { port } = secure.address() as AddressInfo; // a TCP server has one
    expect(await failureOf(open(behind(`https://127.0.0.1:${port}`, 'usable')))).toMatchObject({
      message: expect.stringContaining('certificate that cannot be verified'),
      advice: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    });
  });
});

describe.skipIf(MISSING !== null)(`a bucket and a database (${MISSING ?? 'S3'})`, () => {
  it('belong to one cluster, however many nodes start concurrently', async () => {
    const cluster = await makeCluster();
    const nodes = await Promise.all([cluster.node(), cluster.node(), cluster.node()]);
    expect(nodes).toHaveLength(3);
    expect(await server().s3.list(cluster.bucket)).toEqual(['vloc.cluster']);
  });

  it('refuse another database, and another bucket', async () => {
    const [one, other] = [await makeCluster(), await makeCluster()];
    await one.node();
    await other.node();
    const mixed = one.node({ database: other.options.database });
    expect(await failureOf(mixed)).toMatchObject({ code: 'STORAGE_OF_ANOTHER' });
    const fresh = one.node({ database: freshAccount(server().database) });
    expect(await failureOf(fresh)).toMatchObject({
      code: 'STORAGE_OF_ANOTHER',
      message: expect.stringContaining('another database'),
    });
    await server().s3.createBucket('unused');
    const moved = one.node({ storage: server().s3.address('unused') });
    expect(await failureOf(moved)).toMatchObject({
      code: 'STORAGE_OF_ANOTHER',
      message: expect.stringContaining('another bucket'),
    });
    expect(await server().s3.list('unused')).toEqual([]);
  });

  it('let one bucket serve two clusters in separate folders', async () => {
    const one = await makeCluster();
    const other = await makeCluster();
    const inFolder = (name: string) => one.options.storage.replace('?', `/${name}?`);
    await one.node({ storage: inFolder('first') });
    await other.node({ storage: inFolder('second') });
    expect(await server().s3.list(one.bucket)).toEqual(['first/vloc.cluster', 'second/vloc.cluster']);
  });

  it('refuse a bucket with objects of another program', async () => {
    const cluster = await makeCluster();
    await server().s3.write(cluster.bucket, 'assets/holiday.jpg', 'a picture');
    expect(await failureOf(cluster.node())).toMatchObject({
      code: 'STORAGE_FOREIGN',
      message: expect.stringContaining('assets/holiday.jpg'),
    });
    expect(await server().s3.list(cluster.bucket)).toEqual(['assets/holiday.jpg']);
  });

  it('refuse a database of a service with a shared folder, and that a start forgets the bucket', async () => {
    const cluster = await makeCluster();
    const { database } = cluster.options;
    const shared = freshAccount(server().database);
    await startScene({ stateDir: makeFolder(), database: shared });
    expect(await failureOf(cluster.node({ database: shared }))).toMatchObject({
      code: 'DATABASE_OF_ANOTHER',
    });
    await cluster.node();
    const forgotten = startScene({ stateDir: makeFolder(), database });
    expect(await failureOf(forgotten)).toMatchObject({
      code: 'DATABASE_OF_ANOTHER',
      advice: expect.stringContaining('--storage'),
    });
  });
});
