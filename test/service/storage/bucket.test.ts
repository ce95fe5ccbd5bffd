/** How a bucket handles answers that no S3 server returns on demand; test/cluster has the others. */
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { openBucket } from '../../../src/service/storage/bucket.ts';
import { readS3Address } from '../../../src/service/storage/s3-address.ts';
import { StorageAway } from '../../../src/service/storage/storage.ts';
import { openBefore } from './stand-in.ts';

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

test('the page of a proxy means that the storage is down, and its text reaches no terminal unescaped', async () => {
  const bucket = await openBefore((_asked, answer) => {
    answer.writeHead(502, { 'Content-Type': 'text/html' }).end('<html>\u001b[31mBad gateway');
  });
  const error = await failureOf(bucket.read({ method: 'GET', key: 'a' }));
  expect(error).toBeInstanceOf(StorageAway);
  expect(error).toMatchObject({ status: 502, code: '', message: 'the storage answered 502' });
});

test('the message of a refusal is one line without control characters', async () => {
  const bucket = await openBefore((_asked, answer) => {
    answer
      .writeHead(403)
      .end(
        '<Error><Code>AccessDenied</Code><Message>No\n\u001b[31m access to &#39;a&#39;&#27;</Message></Error>',
      );
  });
  expect(await failureOf(bucket.read({ method: 'GET', key: 'a' }))).toMatchObject({
    code: 'AccessDenied',
    message: "the storage answered 403 AccessDenied: No [31m access to 'a' ",
  });
});

test('a connection that breaks off means that the storage is down', async () => {
  const bucket = await openBefore((asked) => asked.socket.destroy());
  expect(await failureOf(bucket.send({ method: 'GET', key: 'a' }))).toMatchObject({
    name: 'StorageAway',
    message: 'the storage cannot be reached: it dropped the connection',
  });
});

test('an upload that is refused while it is sent ends with the refusal', async () => {
  const bucket = await openBefore((_asked, answer) => {
    answer.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
  });
  const chunk = Buffer.alloc(1024 ** 2);
  const body = {
    bytes: 64 * chunk.length,
    sha256: '0'.repeat(64),
    open: () => Readable.from(Array.from({ length: 64 }, () => chunk)),
  };
  const error = await failureOf(bucket.send({ method: 'PUT', key: 'a', body }));
  expect(error).toBeInstanceOf(StorageAway);
});

test('a source that cannot be read ends an upload with its own error', async () => {
  const bucket = await openBefore((asked) => asked.resume());
  const unreadable = Object.assign(new Error('gone'), { code: 'ENOENT' });
  const open = () => new Readable({ read: (): void => void 0, construct: (done) => done(unreadable) });
  const error = await failureOf(
    bucket.send({ method: 'PUT', key: 'a', body: { bytes: 5, sha256: '0'.repeat(64), open } }),
  );
  expect(error).toBe(unreadable);
});

test('a long listing is read page by page', async () => {
  const asked: string[] = [];
  const bucket = await openBefore(({ url = '' }, answer) => {
    const token = new URL(url, 'http://stand').searchParams.get('continuation-token') ?? '';
    asked.push(token);
    const entry = (key: string) =>
      `<Contents><Key>${key}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents>`;
    const more = '<IsTruncated>true</IsTruncated><NextContinuationToken>1&amp;2+3</NextContinuationToken>';
    const page =
      token === ''
        ? entry('a&amp;b') + entry('it&#39;s &#x22;c&#34;') + more
        : `${entry('c')}<IsTruncated>false</IsTruncated>`;
    answer.end(`<ListBucketResult>${page}</ListBucketResult>`);
  });
  const keys: string[] = [];
  for await (const { key, modifiedAt } of bucket.list('')) {
    keys.push(key);
    expect(modifiedAt).toBe(Date.UTC(2026, 0, 2, 3, 4, 5));
  }
  // Servers written in Go write quotes as numbers.
  expect(keys).toEqual(['a&b', `it's "c"`, 'c']);
  expect(asked).toEqual(['', '1&2+3']);
});

test('work that is stopped ends with the reason of its signal', async () => {
  const bucket = await openBefore((asked) => asked.resume());
  const controller = new AbortController();
  const sent = failureOf(bucket.send({ method: 'GET', key: 'a', signal: controller.signal }));
  controller.abort(new Error('cancelled'));
  expect(await sent).toMatchObject({ message: 'cancelled' });
});

test('an address has the signature that AWS documents for it', async () => {
  // Source: Amazon S3, "Authenticating Requests: Using Query Parameters", its example.
  const address = {
    ...readS3Address('s3://examplebucket?endpoint=https://s3.amazonaws.com&style=virtual', {}),
  };
  const credentials = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  };
  const bucket = openBucket(address, credentials, Date.now);
  const from = Date.UTC(2013, 4, 24);
  const url = await bucket.presign({ method: 'GET', key: 'test.txt', from, until: from + 86_400_000 });
  expect(new URL(url).searchParams.get('X-Amz-Signature')).toBe(
    'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
  );
  bucket.close();
});
