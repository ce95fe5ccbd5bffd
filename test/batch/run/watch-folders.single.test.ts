import promises, { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { checkResultsFolder, checkWatched, watchFolder } from '../../../src/batch/run/watch-folders.ts';
import { createFolder } from '../plan/support.ts';

const isVideo = (name: string) => name.endsWith('.mp4');

/** Watches with time that passes immediately; changes in the folder happen during the waits, one step for each. */
async function watchDuring(
  folder: string,
  steps: readonly (() => Promise<unknown>)[],
  waits: number[] = [],
): Promise<string[][]> {
  const end = new AbortController();
  let [now, step] = [0, 0];
  let isClosed = false;
  const openWatch = () => ({
    changed: async (ms: number) => {
      now += ms;
      waits.push(ms);
      const next = steps[step];
      step += 1;
      if (next === undefined) end.abort();
      else await next();
    },
    close: () => {
      isClosed = true;
    },
  });
  const settled: string[][] = [];
  const options = { folder, isWanted: isVideo, now: () => now, signal: end.signal, openWatch };
  for await (const files of watchFolder(options)) settled.push(files.map(({ name }) => name));
  expect(isClosed).toBe(true);
  return settled;
}

const nothing = async () => undefined;

describe('a watched folder', () => {
  it('yields existing files, then new ones, also from folders below, and ends when it is stopped', async () => {
    const folder = createFolder({ 'a.mp4': 'x', 'week1/b.mp4': 'x', 'notes.txt': 'x', '.vloc/c.mp4': 'x' });
    const settled = await watchDuring(folder, [
      nothing,
      () => writeFile(join(folder, 'week1', 'd.mp4'), 'x'),
      nothing,
      nothing,
    ]);
    expect(settled).toEqual([['a.mp4', 'week1/b.mp4'], ['week1/d.mp4']]);
  });

  it('is checked again soon while a file may still be written to, and rarely otherwise', async () => {
    const folder = createFolder({ 'a.mp4': 'x' });
    const waits: number[] = [];
    await watchDuring(folder, [nothing, nothing, nothing], waits);
    expect(waits).toEqual([2000, 10_000, 10_000, 10_000]);
  });

  it('waits for a file that is being copied, and accepts one that is renamed when it is whole', async () => {
    const folder = createFolder({ 'slow.mp4': 'x', 'b.mp4.part': 'xx' });
    const settled = await watchDuring(folder, [
      () => writeFile(join(folder, 'slow.mp4'), 'xx'),
      () => writeFile(join(folder, 'slow.mp4'), 'xxx'),
      () => rename(join(folder, 'b.mp4.part'), join(folder, 'b.mp4')),
      nothing,
      nothing,
    ]);
    expect(settled).toEqual([['slow.mp4'], ['b.mp4']]);
  });

  it('is checked again after it was missing for a while', async () => {
    const folder = createFolder({ 'in/a.mp4': 'x' });
    const watched = join(folder, 'in');
    const settled = await watchDuring(watched, [
      nothing,
      () => rename(watched, join(folder, 'away')),
      nothing,
      () => rename(join(folder, 'away'), watched),
      () => writeFile(join(watched, 'b.mp4'), 'x'),
      nothing,
      nothing,
    ]);
    expect(settled).toEqual([['a.mp4'], ['b.mp4']]);
  });

  it('follows a link to a file, and skips one without a target', async () => {
    const folder = createFolder({ 'in/.keep': '', 'elsewhere.mp4': 'x' });
    await symlink(join(folder, 'elsewhere.mp4'), join(folder, 'in', 'a.mp4'));
    await symlink(join(folder, 'gone.mp4'), join(folder, 'in', 'b.mp4'));
    expect(await watchDuring(join(folder, 'in'), [nothing, nothing])).toEqual([['a.mp4']]);
  });

  it('that is not a folder is refused before anything else', async () => {
    const folder = createFolder({ 'a.mp4': 'x' });
    await expect(watchDuring(join(folder, 'a.mp4'), [])).rejects.toThrow(Failure);
    await rm(join(folder, 'a.mp4'));
    await expect(watchDuring(join(folder, 'a.mp4'), [])).rejects.toThrow('does not exist');
  });
});

describe('the result folder of a watch', () => {
  it.each([
    ['the watched one', 'in'],
    ['inside it', 'in/out'],
    ['inside it and missing', 'in/new/out'],
    ['a link to it', 'link'],
    ['inside a link to it, and missing', 'link/out'],
  ])('is refused when it is %s', async (_, results) => {
    const folder = createFolder({ 'in/out/.keep': '' });
    await symlink(join(folder, 'in'), join(folder, 'link'));
    const check = checkResultsFolder(join(folder, 'in'), join(folder, results));
    await expect(check).rejects.toMatchObject({ facts: { category: 'usage', code: 'RESULTS_WATCHED' } });
  });

  it('may be beside it, above it, or have a name that begins alike', async () => {
    const folder = createFolder({ 'in/.keep': '' });
    await mkdir(join(folder, 'in-results'));
    for (const results of ['out', '.', 'in-results']) {
      await expect(checkResultsFolder(join(folder, 'in'), join(folder, results))).resolves.toBeUndefined();
    }
  });
});

it('a folder that cannot be read is refused, instead of waiting for its files forever', async () => {
  const folder = createFolder({});
  const denied = Object.assign(new Error('permission denied'), { code: 'EACCES' });
  // What may read everything cannot take its own rights away.
  const spy = vi.spyOn(promises, 'readdir').mockRejectedValue(denied);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  await expect(checkWatched(folder)).rejects.toMatchObject({
    message: `cannot read the watched folder ${folder} (EACCES)`,
    facts: { category: 'usage', code: 'NO_FOLDER' },
  });
});
