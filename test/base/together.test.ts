import PQueue from 'p-queue';
import { describe, expect, test } from 'vitest';
import { inTurn, runTogether, takeTurn } from '../../src/base/together.ts';

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

describe('a queue of one', () => {
  const started = async (name: string, names: string[]) => void names.push(name);

  test('runs the task with the smallest rank first, and tasks of one rank in order', async () => {
    const queue = new PQueue({ concurrency: 1 });
    const names: string[] = [];
    const end = await takeTurn(queue, going);
    const waiting = [
      inTurn(queue, going, () => started('late', names), 30),
      inTurn(queue, going, () => started('soon', names), 10),
      inTurn(queue, going, () => started('soon, but added later', names), 10),
    ];
    end();
    await Promise.all(waiting);
    expect(names).toEqual(['soon', 'soon, but added later', 'late']);
  });

  test('forgets a waiting task that is cancelled, and runs the next one', async () => {
    const queue = new PQueue({ concurrency: 1 });
    const stop = new AbortController();
    const names: string[] = [];
    const end = await takeTurn(queue, going);
    const cancelled = inTurn(queue, stop.signal, () => started('cancelled', names));
    const next = inTurn(queue, going, () => started('next', names));
    stop.abort(new Error('enough'));
    await expect(cancelled).rejects.toThrow('enough');
    await expect(takeTurn(queue, stop.signal)).rejects.toThrow('enough');
    end();
    await next;
    expect(names).toEqual(['next']);
  });

  test('keeps the place of a task that is cancelled while it runs until that has ended', async () => {
    const queue = new PQueue({ concurrency: 1 });
    const stop = new AbortController();
    const work = Promise.withResolvers<string>();
    const names: string[] = [];
    const running = inTurn(queue, stop.signal, () => work.promise);
    const next = inTurn(queue, going, () => started('next', names));
    stop.abort(new Error('enough'));
    await new Promise(setImmediate);
    expect(names).toEqual([]);
    work.resolve('cleaned up');
    expect(await running).toBe('cleaned up');
    await next;
    expect(names).toEqual(['next']);
  });

  test('passes the place of a failed task on', async () => {
    const queue = new PQueue({ concurrency: 1 });
    const failing = inTurn(queue, going, () => Promise.reject(new Error('broken')));
    const next = inTurn(queue, going, async () => 'next');
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('next');
  });
});
