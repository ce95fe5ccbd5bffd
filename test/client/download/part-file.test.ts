import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPartFile, partOf } from '../../../src/client/download/part-file.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { failureOf } from '../support/harness.ts';

test('a part that is linked to a result is replaced, and the result is unchanged', async () => {
  const result = join(makeFolder(), 'talk.mp4');
  const path = partOf(result);
  await writeFile(result, 'whole');
  await link(result, path);
  const part = await openPartFile(path, { keep: true, hashed: false });
  expect(part.length).toBe(0);
  await part.append([Buffer.from('other')]);
  await part.seal();
  expect([await readFile(result, 'utf8'), await readFile(path, 'utf8')]).toEqual(['whole', 'other']);
});

test('a part that is being written is not opened again under any of its names until it is closed', async () => {
  const folder = makeFolder();
  const path = partOf(join(folder, 'talk.mp4'));
  const first = await openPartFile(path, { keep: true, hashed: true });
  await first.append([Buffer.from('whole')]);
  const second = await failureOf(
    openPartFile(join(folder, '.', '.talk.mp4.part'), { keep: false, hashed: true }),
  );
  expect(second.facts).toMatchObject({ category: 'disk', code: 'PART_IN_USE' });
  expect(await readFile(path, 'utf8')).toBe('whole');
  await first.close();
  const third = await openPartFile(path, { keep: true, hashed: true });
  expect(third.length).toBe(5);
  await third.close();
});

test.each([
  ['has been replaced', async (path: string) => rename(await newFile('other'), path)],
  ['was deleted', (path: string) => rm(path)],
  ['was written to by another program', (path: string) => writeFile(path, 'longer than before')],
])('a part that %s is not used for the result', async (_what, spoil) => {
  const path = partOf(join(makeFolder(), 'talk.mp4'));
  const part = await openPartFile(path, { keep: true, hashed: true });
  await part.append([Buffer.from('whole')]);
  await spoil(path);
  const { facts } = await failureOf(part.seal());
  expect(facts).toMatchObject({ category: 'temporary', code: 'PART_TAKEN' });
});

async function newFile(text: string): Promise<string> {
  const path = join(makeFolder(), 'file');
  await writeFile(path, text);
  return path;
}
