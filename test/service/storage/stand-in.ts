/** A bucket before a server that answers as a test says. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type Bucket, openBucket } from '../../../src/service/storage/bucket.ts';
import { readS3Address } from '../../../src/service/storage/s3-address.ts';

export async function openBefore(answer: RequestListener): Promise<Bucket> {
  const stand = createServer(answer);
  await new Promise<void>((resolve) => stand.listen(0, '127.0.0.1', resolve));
  const { port } = stand.address() as AddressInfo; // a TCP server has one
  const address = readS3Address(`s3://videos?endpoint=http://127.0.0.1:${port}`, {});
  const bucket = openBucket(address, { accessKeyId: 'key', secretAccessKey: 'hidden' }, Date.now);
  onTestFinished(async () => {
    bucket.close();
    stand.closeAllConnections();
    await new Promise((resolve) => stand.close(resolve));
  });
  return bucket;
}
