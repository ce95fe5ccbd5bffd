import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { watchFolders } from '../../../src/batch/run/watch-folders.ts';
import { createFolder } from '../plan/support.ts';

function openAll(names: readonly string[], folder: string) {
  const end = new AbortController();
  let now = 0;
  let open = 0;
  const openWatch = () => {
    open += 1;
    return {
      changed: (ms: number, signal?: AbortSignal) =>
        new Promise<void>((resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason));
          setImmediate(() => {
            now += ms;
            resolve();
          });
        }),
      close: () => {
        open -= 1;
      },
    };
  };
  const files = watchFolders({
    folders: names.map((name) => join(folder, name)),
    workOn: () => 'none',
    now: () => now,
    signal: end.signal,
    openWatch,
  });
  return { files, end: () => end.abort(), open: () => open };
}

it('yields the files of each folder as they arrive, by their paths, until it is stopped', async () => {
  const folder = createFolder({ 'one/a.mp4': 'x', 'two/.keep': '', 'b.mp4': 'x' });
  const { files, end, open } = openAll(['one', 'two'], folder);
  expect((await files.next()).value).toEqual([join(folder, 'one', 'a.mp4')]);
  await rename(join(folder, 'b.mp4'), join(folder, 'two', 'b.mp4'));
  expect((await files.next()).value).toEqual([join(folder, 'two', 'b.mp4')]);
  expect(open()).toBe(2);
  end();
  expect(await files.next()).toMatchObject({ done: true });
  expect(open()).toBe(0);
});

it('ends all of them if one is not a folder', async () => {
  const folder = createFolder({ 'one/.keep': '' });
  const { files, open } = openAll(['one', 'two'], folder);
  await expect(files.next()).rejects.toThrow('two does not exist');
  expect(open()).toBe(0);
});
