import { link, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPartFile, partOf } from '../../../src/client/download/part-file.ts';
import { newFolder } from '../../journal/support/folder.ts';

test('a part that has the name of a result too is begun anew, and the result stays as it is', async () => {
  const result = join(newFolder(), 'talk.mp4');
  const path = partOf(result);
  await writeFile(result, 'whole');
  await link(result, path);
  const part = await openPartFile(path, { keep: true, hashed: false });
  expect(part.length).toBe(0);
  await part.append([Buffer.from('other')]);
  await part.seal();
  expect([await readFile(result, 'utf8'), await readFile(path, 'utf8')]).toEqual(['whole', 'other']);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});
