import { createHash, randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { type ByteHash, createByteHash } from '../../../src/client/upload/byte-hash.ts';
import { onCleanup } from '../support/harness.ts';
import { MIB, makeFile, startUploads, VIDEO } from '../support/start-uploads.ts';

const LARGE = 64 * MIB;

function start(size: number, startThread?: () => Worker): ByteHash {
  const hash = createByteHash(size, startThread);
  onCleanup(hash.close);
  return hash;
}

/** Shows pieces of a MiB to the hash, through one piece of memory that is used again as soon as it was taken. */
async function feed(hash: ByteHash, pieces: number): Promise<string> {
  const expected = createHash('sha256');
  const memory = hash.allocate(MIB);
  for (let piece = 0; piece < pieces; piece += 1) {
    randomBytes(MIB).copy(memory);
    expected.update(memory);
    await hash.update(memory);
  }
  return expected.digest('hex');
}

describe('the hash of a large file', () => {
  test('is that of its bytes, though their memory is reused', async () => {
    const hash = start(LARGE);
    const expected = await feed(hash, 5);
    expect(await hash.digest()).toBe(expected);
  });

  test('is computed in another thread, which reads the memory without a copy', () => {
    expect(start(LARGE).allocate(1).buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(start(MIB).allocate(1).buffer).toBeInstanceOf(ArrayBuffer);
  });

  test('is computed in this thread if no other one can be started', async () => {
    const hash = start(LARGE, () => {
      throw new Error('ERR_WORKER_INIT_FAILED');
    });
    const expected = await feed(hash, 3);
    expect(await hash.digest()).toBe(expected);
  });

  test.each([
    ['throws', 'throw new Error("out of memory")'],
    ['ends', 'process.exit(0)'],
    [
      'ends at the first bytes',
      'require("node:worker_threads").parentPort.once("message", () => process.exit(1))',
    ],
  ])('is unknown if the thread %s, and nobody waits for it', async (_how, code) => {
    const hash = start(LARGE, () => new Worker(code, { eval: true }));
    await feed(hash, 3);
    expect(await hash.digest()).toBeNull();
  });

  test('waits for nothing once it is closed', async () => {
    const hash = start(LARGE);
    await hash.close();
    await feed(hash, 1);
    expect(await hash.digest()).toBeNull();
  });
});

test('a file large enough for a thread is sent whole, with the hash of what was sent', async () => {
  const { client, service } = await startUploads();
  const { path, bytes, sha256 } = await makeFile(33 * MIB + 5);
  const sent = await client.uploads.sendFile(path, VIDEO);
  expect(sent.sha256).toBe(sha256);
  expect(service.stored.get('/storage/1')?.equals(bytes)).toBe(true);
});

test('a file has no hash if the caller does not want one', async () => {
  const { client, service } = await startUploads();
  const { path, bytes } = await makeFile(MIB + 1);
  const sent = await client.uploads.sendFile(path, { ...VIDEO, hash: false });
  expect(sent.sha256).toBeNull();
  expect(service.stored.get('/storage/1')?.equals(bytes)).toBe(true);
});
