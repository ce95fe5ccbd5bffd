import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { describeHolder, waitForLock, withMutex } from '../../../src/batch/records/hold.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { startChild } from './support/child.ts';
import { FOREIGN_HOLDER } from './support/foreign-holder.ts';

test('the holder of a lock is named, with what to do if it has died on another machine', () => {
  const refused = { taken: false, holder: FOREIGN_HOLDER, isElsewhere: true, judgedInMs: null } as const;
  const who = 'process 7 on shelf, since then';
  const ifDead = ' If no vloc runs there, remove /out/lock.';
  expect(describeHolder(refused, '/out/lock')).toEqual({ who, ifDead });
  expect(describeHolder({ ...refused, isElsewhere: false }, '/out/lock')).toEqual({ who, ifDead: '' });
  const unknown = describeHolder({ ...refused, holder: null, isElsewhere: false }, '/out/lock');
  expect(unknown).toEqual({ who: 'a process that the damaged lock file /out/lock does not name', ifDead });
});

describe('waiting for a lock', () => {
  it('ends when its holder is killed, not before', async () => {
    const path = join(makeFolder(), 'lock');
    const child = startChild();
    await child.ask(path);
    let isMine = false;
    const mine = waitForLock(path).then((lock) => {
      isMine = true;
      return lock;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isMine).toBe(false);
    await child.kill();
    await (await mine).release();
  });

  it('ends with the reason of the signal', async () => {
    const path = join(makeFolder(), 'lock');
    const held = await waitForLock(path);
    const stop = new AbortController();
    const waiting = waitForLock(path, stop.signal);
    setTimeout(() => stop.abort(new Error('Ctrl-C')), 20);
    await expect(waiting).rejects.toThrow('Ctrl-C');
    await expect(waitForLock(path, stop.signal)).rejects.toThrow('Ctrl-C');
    await held.release();
  });
});

describe('a mutex', () => {
  it('runs one task after the other, and the next after one that failed', async () => {
    const path = join(makeFolder(), 'lock');
    let atWork = 0;
    const work = (number: number) =>
      withMutex(path, async () => {
        atWork += 1;
        expect(atWork).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 2));
        atWork -= 1;
        if (number === 3) throw new Error('failed');
      });
    const ends = await Promise.allSettled(Array.from({ length: 8 }, (_, number) => work(number)));
    expect(ends.map(({ status }) => status).filter((status) => status === 'rejected')).toHaveLength(1);
    expect(ends[3]?.status).toBe('rejected');
  });
});
