import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { ended } from '../../../src/engines/separate/parts.ts';

const run = (code: string, report: (fraction: number) => void = () => {}) =>
  ended(new Worker(code, { eval: true }), report);

test('a thread that has finished its part has reported how far it was', async () => {
  const fractions: number[] = [];
  await run('require("node:worker_threads").parentPort.postMessage(0.5)', (part) => fractions.push(part));
  expect(fractions).toEqual([0.5]);
});

test('a thread that fails, or ends before its part is finished, fails the separation', async () => {
  await expect(run('throw new Error("no space left on the disk")')).rejects.toThrow('no space left');
  await expect(run('process.exit(3)')).rejects.toThrow('a thread ended with code 3');
});
