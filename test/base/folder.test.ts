import { mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder } from '../../src/base/folder.ts';
import { makeFolder as makeTestFolder } from '../support/make-folder.ts';

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

it('creates all missing levels with the mode, and returns the uppermost', async () => {
  const folder = makeTestFolder();
  const deep = join(folder, 'a', 'b', 'c');
  expect(await makeFolder(deep, 0o700)).toBe(join(folder, 'a'));
  expect([await modeOf(join(folder, 'a')), await modeOf(deep)]).toEqual([0o700, 0o700]);
});

it('leaves an existing folder unchanged, also one behind a link', async () => {
  const folder = makeTestFolder();
  await mkdir(join(folder, 'there'), { mode: 0o755 });
  await symlink('there', join(folder, 'link'));
  expect(await makeFolder(join(folder, 'there'), 0o700)).toBeNull();
  expect(await makeFolder(join(folder, 'link'), 0o700)).toBeNull();
  expect(await modeOf(join(folder, 'there'))).toBe(0o755);
  expect(await makeFolder('/')).toBeNull();
});

it('created by many concurrently is one folder', async () => {
  const folder = makeTestFolder();
  const deep = join(folder, 'a', 'b', 'c');
  await Promise.all(Array.from({ length: 20 }, () => makeFolder(deep)));
  expect((await stat(deep)).isDirectory()).toBe(true);
});

it('refuses a file, and paths below one', async () => {
  const folder = makeTestFolder();
  await writeFile(join(folder, 'file'), '');
  await symlink('nowhere', join(folder, 'dangling'));
  await expect(makeFolder(join(folder, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeFolder(join(folder, 'file', 'a', 'b'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  await expect(makeFolder(join(folder, 'dangling', 'a'))).rejects.toMatchObject({ code: 'EEXIST' });
});

it.runIf(process.platform === 'linux')('ends even if nothing can be created', async () => {
  await expect(makeFolder('/proc/vloc/a')).rejects.toMatchObject({ code: 'ENOENT' });
});
