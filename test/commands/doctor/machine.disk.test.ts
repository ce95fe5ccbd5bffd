import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkFolderWritable, judgeFreeSpace } from '../../../src/commands/doctor/machine.ts';
import { makeFolder } from '../../support/make-folder.ts';

it.each([
  [2 * 1024 ** 3, 'ok'],
  [2 * 1024 ** 3 - 1, 'warn'],
  [175_000_000, 'warn'],
  [174_999_999, 'fail'],
])('%i free bytes are %s', (bytes, grade) => {
  expect(judgeFreeSpace('/tmp', bytes, {})).toMatchObject({ grade, facts: { free_bytes: bytes } });
});

it('the check of a folder leaves nothing behind, and creates none', async () => {
  const folder = makeFolder();
  expect(await checkFolderWritable(folder)).toMatchObject({ facts: { exists: true } });
  expect(await checkFolderWritable(join(folder, 'a', 'b'))).toMatchObject({ facts: { exists: false } });
  expect(await readdir(folder)).toEqual([]);
});

it('a file at the path of a folder is reported', async () => {
  const folder = makeFolder();
  await writeFile(join(folder, 'file'), '');
  const result = await checkFolderWritable(join(folder, 'file', 'state'));
  expect(result).toMatchObject({ grade: 'fail', message: expect.stringContaining('ENOTDIR') });
});
