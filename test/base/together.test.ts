import { describe, expect, test } from 'vitest';
import { createLimit, runTogether } from '../../src/base/together.ts';

const going = new AbortController().signal;

test('returns the results in the order of the tasks, whichever ends first', async () => {
  const late = async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return 'late';
  };
  expect(await runTogether(going, [late, async () => 'early'])).toEqual(['late', 'early']);
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
  await expect(runTogether(going, [patient, failing])).rejects.toThrow('engine broke');
  expect(ended).toEqual(['patient']);
});

test('passes a cancel to each task', async () => {
  const stop = new AbortController();
  const seen: boolean[] = [];
  const task = async (signal: AbortSignal) => {
    stop.abort();
    seen.push(signal.aborted);
  };
  await runTogether(stop.signal, [task, task]);
  expect(seen).toEqual([true, true]);
});

describe('a limit of two', () => {
  /** A task that runs until it is ended. */
  const task = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    return { promise, end: resolve };
  };
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

  test('lets the third task wait until one has ended, whether that failed or succeeded', async () => {
    const limit = createLimit(2);
    const { signal } = new AbortController();
    const started: string[] = [];
    const [first, second] = [task(), task()];
    const begin = (name: string, work: Promise<unknown>) =>
      limit(signal, async () => {
        started.push(name);
        await work;
        return name;
      });
    const running = [begin('first', first.promise), begin('second', second.promise)];
    const third = begin('third', Promise.resolve());
    const failing = limit(signal, () => Promise.reject(new Error('broken')));
    failing.catch(() => {});
    await turn();
    expect(started).toEqual(['first', 'second']);
    second.end();
    expect(await third).toBe('third');
    await expect(failing).rejects.toThrow('broken');
    first.end();
    expect(await Promise.all(running)).toEqual(['first', 'second']);
  });

  test('forgets a waiting task that is cancelled', async () => {
    const limit = createLimit(1);
    const first = task();
    const running = limit(new AbortController().signal, () => first.promise);
    const stop = new AbortController();
    const waiting = limit(stop.signal, async () => 'ran');
    stop.abort(new Error('cancelled'));
    await expect(waiting).rejects.toThrow('cancelled');
    first.end();
    await running;
    expect(await limit(new AbortController().signal, async () => 'next')).toBe('next');
  });
});
