import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../src/batch/limiter.ts';

const OPEN = new AbortController().signal;

describe('a limiter', () => {
  it('starts the most urgent waiting task first', async () => {
    const limiter = createLimiter(1);
    const end = await limiter.enter(0, OPEN);
    const order: number[] = [];
    const waiting = [30, 10, 20].map(async (rank) => {
      const done = await limiter.enter(rank, OPEN);
      order.push(rank);
      done();
    });
    end();
    await Promise.all(waiting);
    expect(order).toEqual([10, 20, 30]);
  });

  it('never runs more tasks than its limit', async () => {
    const limiter = createLimiter(3);
    let atWork = 0;
    let most = 0;
    const work = async (rank: number) => {
      const end = await limiter.enter(rank, OPEN);
      atWork += 1;
      most = Math.max(most, atWork);
      await new Promise(setImmediate);
      atWork -= 1;
      end();
      end();
    };
    await Promise.all(Array.from({ length: 20 }, (_, rank) => work(rank)));
    expect({ most, atWork }).toEqual({ most: 3, atWork: 0 });
  });

  it('drops tasks that no longer want to wait, and lets others run instead', async () => {
    const limiter = createLimiter(1);
    const end = await limiter.enter(0, OPEN);
    const gone = new AbortController();
    const given = limiter.enter(1, gone.signal);
    const next = limiter.enter(2, OPEN);
    gone.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    end();
    expect(await next).toBeTypeOf('function');
    await expect(limiter.enter(0, gone.signal)).rejects.toThrow('enough');
  });
});
