/** Whether the service can do its work, for whoever decides to send it requests. */
import { statfs } from 'node:fs/promises';
import type { Context } from '../context.ts';
import { type Answer, json } from '../http/answer.ts';

/** Anybody may ask: the disk is written at most once in this time, whatever the number of questions. */
const FRESH_MS = 1000;

/** Writes the row of a secret as it is: a write that reaches the disk and changes nothing. */
const TOUCH = `UPDATE secrets SET value = value WHERE name = 'links'`;

/** Makes the answer of `/healthz`: 200 while the store can be written, else 503. */
export function createHealthCheck(context: Context): () => Promise<Answer> {
  let last: { at: number; answer: Promise<Answer> } | null = null;
  return () => {
    const now = context.clock.now();
    if (last === null || now - last.at >= FRESH_MS) last = { at: now, answer: check(context) };
    return last.answer;
  };
}

async function check({ store, folders, log }: Context): Promise<Answer> {
  try {
    store.run(TOUCH);
    const { bavail, bsize } = await statfs(folders.root);
    return json(200, { status: 'ok', store: 'writable', disk_free_bytes: bavail * bsize });
  } catch (error) {
    log({ level: 'error', message: 'the store cannot be written', error });
    return json(503, { status: 'failing', store: 'not writable' }, { 'Retry-After': '5' });
  }
}
