import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { callThread } from '../../../src/engines/separate/threads.ts';

const threads: Worker[] = [];
afterEach(() => Promise.all(threads.splice(0).map((thread) => thread.terminate())));

/** Starts a thread with `port` and `call`, what it is asked to do. */
function threadThat(code: string): Worker {
  const source = `const port = require("node:worker_threads").parentPort; port.on("message", (call) => { ${code} })`;
  const thread = new Worker(source, { eval: true });
  threads.push(thread);
  return thread;
}

const ask = (thread: Worker, report: (fraction: number) => void = () => {}) =>
  callThread(thread, { step: 'denoise', input: { part: 7 } }, report);

test('a thread reports its progress, returns its result, and can be used again', async () => {
  const thread = threadThat(
    'port.postMessage({ type: "progress", fraction: 0.5 }); port.postMessage({ type: "done", result: call.input.part })',
  );
  const fractions: number[] = [];
  expect(await ask(thread, (part) => fractions.push(part))).toBe(7);
  expect(await ask(thread, (part) => fractions.push(part))).toBe(7);
  expect(fractions).toEqual([0.5, 0.5]);
});

test('a thread that fails, or ends before its part is finished, fails the separation', async () => {
  await expect(ask(threadThat('throw new Error("no space left on the disk")'))).rejects.toThrow(
    'no space left',
  );
  await expect(ask(threadThat('process.exit(3)'))).rejects.toThrow('a thread ended with code 3');
});

test('a failure of an asynchronous step reaches the separation too', async () => {
  await expect(ask(threadThat('(async () => { throw new Error("the file is gone") })()'))).rejects.toThrow(
    'the file is gone',
  );
});
