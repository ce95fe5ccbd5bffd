/** Entry of the hashing thread: SHA-256 of the bytes that it is shown. */
import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import type { HashAnswer, HashOrder } from './hash-messages.ts';

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
