/** Entry of the hashing thread: SHA-256 of the bytes that it receives. */
import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';

/** Bytes in shared memory, in the order of the file; `finish` asks for the digest. */
export type HashOrder = { readonly type: 'update'; readonly bytes: Uint8Array } | { readonly type: 'finish' };

/** One `taken` for each `update`, in order; then the SHA-256, lower-case hex. */
export type HashAnswer = { readonly type: 'taken' } | { readonly type: 'digest'; readonly sha256: string };

const hash = createHash('sha256');
const answer = (message: HashAnswer) => parentPort?.postMessage(message);

parentPort?.on('message', (order: HashOrder) => {
  if (order.type === 'update') {
    hash.update(order.bytes);
    answer({ type: 'taken' });
  } else {
    answer({ type: 'digest', sha256: hash.digest('hex') });
  }
});
