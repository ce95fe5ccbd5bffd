import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockFolder, waitForLock, withMutex } from '../../../src/batch/records/hold.ts';
import { startChild } from './support/child.ts';
import { newFolder } from './support/folder.ts';
import { FOREIGN_HOLDER } from './support/foreign-holder.ts';

describe('a folder', () => {
  it('in use is refused with its holder and what to do', async () => {
    const folder = newFolder();
    const child = startChild();
    expect(await child.ask(`enter ${folder}`)).toBe('entered');
    await expect(lockFolder(folder)).rejects.toMatchObject({
      message: expect.stringContaining(`another vloc works in ${folder}: process ${child.process.pid} on `),
      facts: {
        category: 'temporary',
        code: 'FOLDER_LOCKED',
        advice: 'Wait until it is done, then run the same command again.',
        retryable: true,
      },
    });
    await child.ask('leave');
    await (await lockFolder(folder)).release();
  });

  it('in use on another machine is refused with the file to remove if that process has died', async () => {
    const folder = newFolder();
    const path = join(folder, '.vloc.lock');
    writeFileSync(path, JSON.stringify(FOREIGN_HOLDER));
    await expect(lockFolder(folder)).rejects.toMatchObject({
      message: `another vloc works in ${folder}: process 7 on shelf, since then`,
      facts: { advice: expect.stringContaining(`remove ${path}`) },
    });
  });
});

describe('waiting for a lock', () => {
  it('ends when another process releases it, not before', async () => {
    const path = join(newFolder(), 'lock');
    const child = startChild();
    await child.ask(`take ${path}`);
    let isMine = false;
    const mine = waitForLock(path).then((lock) => {
      isMine = true;
      return lock;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isMine).toBe(false);
    await child.ask('leave');
    await (await mine).release();
  });

  it('ends when its holder is killed', async () => {
    const path = join(newFolder(), 'lock');
    const child = startChild();
    await child.ask(`take ${path}`);
    const mine = waitForLock(path);
    await child.kill();
    await (await mine).release();
  });

  it('ends with the reason of the signal', async () => {
    const path = join(newFolder(), 'lock');
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
    const path = join(newFolder(), 'lock');
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
