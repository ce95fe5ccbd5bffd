/** Takes locks as its standard input says: one line a path, one line an answer. */
import { createInterface } from 'node:readline';
import { tryLock } from '../../../../src/batch/records/lock.ts';

for await (const path of createInterface({ input: process.stdin })) {
  process.stdout.write(`${(await tryLock(path)).taken ? 'taken' : 'refused'}\n`);
}
