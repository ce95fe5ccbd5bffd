import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { openSlots } from '../../src/journal/slots.ts';
import { type Child, startChild } from './support/child.ts';
import { newFolder } from './support/folder.ts';

const grabbed = async (children: readonly Child[]) => {
  const counts = await Promise.all(children.map((child) => child.ask('grabbed')));
  return counts.map(Number).reduce((sum, count) => sum + count, 0);
};

describe('fifteen slots', () => {
  it('are never more than fifteen, however four processes come and go', async () => {
    const folder = join(newFolder(), 'slots');
    const atWork = join(newFolder(), 'work');
    mkdirSync(atWork);
    const children = Array.from({ length: 4 }, startChild);
    const most = await Promise.all(children.map((child) => child.ask(`work ${folder} 15 20 ${atWork}`)));
    expect(Math.max(...most.map(Number))).toBeLessThanOrEqual(15);
    expect(Math.max(...most.map(Number))).toBeGreaterThan(1);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('are all given out among four processes, and those of one that is killed go to the others', async () => {
    const folder = join(newFolder(), 'slots');
    const children = Array.from({ length: 4 }, startChild);
    await Promise.all(children.map((child) => child.ask(`grab ${folder} 15`)));
    await vi.waitFor(async () => expect(await grabbed(children)).toBe(15), { timeout: 10_000 });
    await expect(openSlots(folder, 15).acquire(AbortSignal.timeout(50))).rejects.toThrow('timeout');
    expect(await grabbed(children)).toBe(15);

    const [first, ...others] = children;
    await first?.kill();
    await vi.waitFor(async () => expect(await grabbed(others)).toBe(15), { timeout: 10_000 });
    expect(readdirSync(folder)).toHaveLength(15);
  });
});

describe('a slot', () => {
  it('is given in the order of asking', async () => {
    const slots = openSlots(join(newFolder(), 'slots'), 1);
    const order: number[] = [];
    const held = await slots.acquire();
    const waiting = [1, 2, 3].map(async (number) => {
      const slot = await slots.acquire();
      order.push(number);
      await slot.release();
    });
    await held.release();
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
  });

  it('that nobody waits for any more is left to the next', async () => {
    const slots = openSlots(join(newFolder(), 'slots'), 1);
    const held = await slots.acquire();
    const stop = new AbortController();
    const first = slots.acquire(stop.signal);
    const behind = slots.acquire(stop.signal);
    const last = slots.acquire();
    stop.abort(new Error('Ctrl-C'));
    await expect(first).rejects.toThrow('Ctrl-C');
    await expect(behind).rejects.toThrow('Ctrl-C');
    await held.release();
    await (await last).release();
  });
});
