import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { mkdir, open, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import {
  describeUnreadable,
  fileSystemFailure,
  inFolderOf,
  isDiskFull,
  onDisk,
  unlessDiskFails,
} from '../../src/base/system-error.ts';
import { makeFolder } from '../support/make-folder.ts';

const errorWith = (code: string): Error => Object.assign(new Error(`${code}: made by the test`), { code });

/** Mounting takes rights that few users have, containers included. */
function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const folder = mkdtempSync(join(tmpdir(), 'vloc-'));
  if (spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', folder]).status !== 0) return false;
  return spawnSync('umount', [folder]).status === 0;
}

async function caught(work: Promise<unknown>): Promise<Error> {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Error)) throw new TypeError('nothing was thrown');
  return error;
}

describe('a file that cannot be written', () => {
  it.each([
    ['ENOSPC', 'the disk is full', 'Free some space'],
    ['EDQUOT', 'your disk quota is used up', 'Free some space'],
    ['EROFS', 'the disk is read-only', 'Choose a folder on another disk.'],
    ['EACCES', 'permission denied', 'Change its permissions'],
    ['EPERM', 'permission denied', 'Change its permissions'],
    ['ENOENT', 'the folder does not exist', 'Choose another folder.'],
    ['EFBIG', 'the file would exceed your limits', 'ulimit -f'],
    ['EMFILE', 'too many files are open', 'ulimit -n'],
    ['EIO', 'the disk reports a read or write error', 'Check the disk'],
    ['EXDEV', 'the file system reports EXDEV', 'Check the folder.'],
    ['', 'the file system reports an unknown error', 'Check the folder.'],
  ])('because of %j is explained by %j', (code, reason, advice) => {
    const { facts, message } = fileSystemFailure(errorWith(code), '/films/a.mp4');
    expect(message).toContain(`cannot write /films/a.mp4: ${reason}`);
    expect(facts).toMatchObject({ category: 'disk', code: 'DISK_ERROR', retryable: false });
    expect(facts.advice).toContain(advice);
  });

  it.runIf(canMount())('because the disk has no inodes left is not explained as a full disk', async () => {
    const folder = makeFolder();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,nr_inodes=2', 'tmpfs', folder]);
    onTestFinished(() => void execFileSync('umount', [folder]));
    await writeFile(join(folder, 'one'), 'one');
    for (const path of [join(folder, 'two'), join(folder, 'sub', 'two')]) {
      const made = path.includes('sub') ? () => mkdir(join(folder, 'sub')) : () => writeFile(path, 'two');
      const error = await caught(onDisk(path, made));
      if (!(error instanceof Failure)) throw error;
      expect(error.message).toBe(
        `cannot write ${path}: the disk has no room for more files (no inodes left)`,
      );
      expect(error.facts.advice).toMatch(/^Remove files/);
    }
  });

  it.each([
    ['a file instead of a folder', 'file/inside.mp4', 'a part of the path is a file, not a folder'],
    ['a folder instead of the file', 'folder', 'it is a folder'],
    ['links in a circle', 'loop', 'it is a symbolic link'],
    ['a name beyond 255 bytes', 'n'.repeat(256), 'the name is too long'],
  ])('on this disk because of %s is explained', async (_what, name, reason) => {
    const folder = makeFolder();
    await writeFile(join(folder, 'file'), '');
    await mkdir(join(folder, 'folder'));
    await symlink('loop', join(folder, 'loop'));
    const path = join(folder, name);
    const error = await caught(onDisk(path, () => open(path, 'w')));
    expect(error).toBeInstanceOf(Failure);
    expect(error.message).toBe(`cannot write ${path}: ${reason}`);
  });

  it('is reported with the Failure that its work has thrown', async () => {
    const failure = fileSystemFailure(errorWith('ENOSPC'), 'a.mp4');
    expect(await caught(onDisk('b.mp4', () => Promise.reject(failure)))).toBe(failure);
  });

  it('is reported as before if the error does not come from the file system', async () => {
    const defect = new TypeError('a defect');
    expect(await caught(onDisk('b.mp4', () => Promise.reject(defect)))).toBe(defect);
  });

  it.each([
    ['EACCES', true],
    ['ENOENT', true],
    ['ENOSPC', false],
  ])('because of %s names the option of its folder: %s', async (code, isNamed) => {
    const error = await caught(
      inFolderOf('--out', () => onDisk('a.mp4', () => Promise.reject(errorWith(code)))),
    );
    expect(error instanceof Failure && error.facts.advice?.includes('--out names it.')).toBe(isNamed);
  });

  it('leaves optional work without a result, but not if it is a defect', async () => {
    const full = fileSystemFailure(errorWith('ENOSPC'), 'a.mp4');
    expect(await unlessDiskFails(() => Promise.reject(full), 'nothing')).toBe('nothing');
    expect((await caught(unlessDiskFails(() => Promise.reject(new TypeError('x')), 'nothing'))).message).toBe(
      'x',
    );
  });
});

describe('a path that cannot be read', () => {
  it.each([
    ['ENOENT', 'there is no such folder; check the path'],
    ['ENOTDIR', 'there is no such folder; check the path'],
    ['EISDIR', 'this is a folder'],
    ['EACCES', 'permission denied; check its permissions'],
    ['EPERM', 'permission denied; check its permissions'],
    ['ELOOP', 'its links form a loop; name the folder itself'],
    ['ENAMETOOLONG', 'the name is too long for this system; check the path'],
    ['EIO', null],
  ])('because of %s is explained by %j', (code, reason) => {
    expect(describeUnreadable(errorWith(code), 'folder')).toBe(reason);
  });

  it('is a file unless the caller says folder', async () => {
    const error = await caught(readFile(join(makeFolder(), 'none')));
    expect(describeUnreadable(error)).toBe('there is no such file; check the path');
  });
});

describe('a full or failing disk', () => {
  it.each([
    ['ENOSPC', true],
    ['EDQUOT', true],
    ['EROFS', true],
    ['EIO', true],
    ['EACCES', false],
    ['', false],
  ])('is reported for %j: %s', (code, expected) => {
    expect(isDiskFull(errorWith(code))).toBe(expected);
  });

  it('is recognized if SQLite reports it', () => {
    const database = new DatabaseSync(':memory:');
    database.exec('PRAGMA max_page_count = 2; CREATE TABLE rows (data BLOB)');
    const insert = database.prepare('INSERT INTO rows VALUES (zeroblob(100000))');
    expect.assertions(1);
    try {
      insert.run();
    } catch (error) {
      expect(isDiskFull(error)).toBe(true);
    } finally {
      database.close();
    }
  });
});
