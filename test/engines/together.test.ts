import { expect, test } from 'vitest';
import { together } from '../../src/engines/together.ts';

const going = new AbortController().signal;

test('gives the results in the order of the tasks, whichever ends first', async () => {
  const late = async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return 'late';
  };
  expect(await together(going, [late, async () => 'early'])).toEqual(['late', 'early']);
});

test('stops the others when one fails, and waits until they have ended', async () => {
  const ended: string[] = [];
  const patient = (signal: AbortSignal) =>
    new Promise<void>((_, reject) => {
      signal.addEventListener('abort', () => {
        ended.push('patient');
        reject(signal.reason);
      });
    });
  const failing = async () => {
    throw new Error('engine broke');
  };
  await expect(together(going, [patient, failing])).rejects.toThrow('engine broke');
  expect(ended).toEqual(['patient']);
});

test('hands the cancel of the whole to each task', async () => {
  const stop = new AbortController();
  const seen: boolean[] = [];
  const task = async (signal: AbortSignal) => {
    stop.abort();
    seen.push(signal.aborted);
  };
  await together(stop.signal, [task, task]);
  expect(seen).toEqual([true, true]);
});
