import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SYSTEM } from '../../src/journal/lock.ts';
import { openSlots } from '../../src/journal/slots.ts';
import { type Child, startChild } from './support/child.ts';
import { newFolder } from './support/folder.ts';

const grabbed = async (children: readonly Child[]) => {
  const counts = await Promise.all(children.map((child) => child.ask('grabbed')));
  return counts.map(Number).reduce((sum, count) => sum + count, 0);
};

describe('fifteen slots', () => {
  it('are never exceeded, however four processes start and end', async () => {
    const folder = join(newFolder(), 'slots');
    const atWork = join(newFolder(), 'work');
    mkdirSync(atWork);
    const children = Array.from({ length: 4 }, startChild);
    const most = await Promise.all(children.map((child) => child.ask(`work ${folder} 15 20 ${atWork}`)));
    expect(Math.max(...most.map(Number))).toBeLessThanOrEqual(15);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('are all used by four processes, and those of a killed one go to the others', async () => {
    const folder = join(newFolder(), 'slots');
    const children = Array.from({ length: 4 }, startChild);
    await Promise.all(children.map((child) => child.ask(`grab ${folder} 15`)));
    await expect.poll(() => grabbed(children)).toBe(15);
    await expect(openSlots(folder, 15).acquire(AbortSignal.timeout(50))).rejects.toThrow('timeout');
    expect(await grabbed(children)).toBe(15);

    const [first, ...others] = children;
    await first?.kill();
    await expect.poll(() => grabbed(others)).toBe(15);
    expect(readdirSync(folder)).toHaveLength(15);
  });
});

describe('a slot', () => {
  it('is assigned in the order of requests', async () => {
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

  it('of a request that was withdrawn is left to the next', async () => {
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

describe('slots in use by another machine', () => {
  const SINCE = '2026-11-19T08:00:00.000Z';
  /** The slots of a cache that was copied from another machine; their last heartbeat is as old as the copy says. */
  const leaveSlots = (count: number, beatMs: number, folder?: string) => {
    const slots = join(newFolder(), 'slots');
    mkdirSync(slots);
    for (let number = 1; number <= count; number += 1) {
      const path = join(slots, `slot-${number}`);
      const holder = { pid: 4711, started: '1', boot: 'b', host: 'shelf', pid_space: null, since: SINCE };
      writeFileSync(path, JSON.stringify({ ...holder, token: `t${number}`, ...(folder && { folder }) }));
      utimesSync(path, beatMs / 1000, beatMs / 1000);
    }
    return slots;
  };
  /** Time that passes only when a slot was looked at, in steps of a second. */
  const passing = (everySecond: (second: number) => void = () => undefined) => {
    let second = 0;
    const elapsed = () => second * 1_000;
    const now = () => {
      second += 1;
      everySecond(second);
      return Date.now() + second * 1_000;
    };
    return { ...SYSTEM, elapsed, now };
  };

  it('and whose heartbeat stopped three days ago are free after a few seconds', async () => {
    const folder = leaveSlots(15, Date.now() - 72 * 3_600_000);
    const slots = openSlots(folder, 15, undefined, passing());
    const taken = await Promise.all(Array.from({ length: 15 }, () => slots.acquire()));
    await Promise.all(taken.map((slot) => slot.release()));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('and keeps alive are named once, again if others have them, and never taken', async () => {
    const folder = leaveSlots(2, Date.now(), '/srv/lessons');
    const passToOther = () => {
      for (const name of readdirSync(folder)) {
        const path = join(folder, name);
        const holder = JSON.parse(readFileSync(path, 'utf8'));
        writeFileSync(path, JSON.stringify({ ...holder, host: 'attic', token: `other-${name}` }));
      }
    };
    const warnings: string[] = [];
    const stop = new AbortController();
    const around = passing((second) => {
      const beat = Date.now() / 1000 + second;
      for (const name of readdirSync(folder)) utimesSync(join(folder, name), beat, beat);
    });
    const warn = (text: string) => {
      warnings.push(text);
      if (warnings.length === 1) passToOther();
      else stop.abort(new Error('seen'));
    };
    const slots = openSlots(folder, 2, warn, around);
    await expect(slots.acquire(stop.signal)).rejects.toThrow('seen');
    const warningOf = (host: string) =>
      `waiting for a free slot; of 2, others hold 2 by process 4711 on ${host} in /srv/lessons, ` +
      `since ${SINCE}. A slot is taken over after a minute without a heartbeat. \`vloc doctor\` lists them.`;
    expect(warnings).toEqual([warningOf('shelf'), warningOf('attic')]);
    expect(readdirSync(folder)).toHaveLength(2);
  });
});
