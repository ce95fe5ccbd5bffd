import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { storeFiles } from '../../../src/service/jobs/results.ts';
import { makeStateDir } from '../harness/scene.ts';

async function makeShelf() {
  const root = await makeStateDir();
  const shelf = { workFolder: join(root, 'work'), assetFolder: join(root, 'assets', 'one') };
  await mkdir(shelf.workFolder);
  return { root, shelf };
}

const wav = (path: string) => ({ audio: { path, contentType: 'audio/wav' as const } });

test('a file is moved under the name of its asset and described', async () => {
  const { shelf } = await makeShelf();
  await writeFile(join(shelf.workFolder, 'x.tmp'), 'abc');
  const assets = await storeFiles(shelf, 'dubbing', wav(join(shelf.workFolder, 'x.tmp')));
  expect(assets).toEqual({
    audio: {
      content_type: 'audio/wav',
      size_bytes: 3,
      sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    },
  });
  expect(await readdir(shelf.workFolder)).toEqual([]);
  expect(await readdir(shelf.assetFolder)).toEqual(['audio']);
});

test('a file outside the work folder is not taken, a link that leads out neither', async () => {
  const { root, shelf } = await makeShelf();
  await writeFile(join(root, 'secret'), 'secret');
  await symlink(join(root, 'secret'), join(shelf.workFolder, 'link'));
  for (const path of [
    join(root, 'secret'),
    join(shelf.workFolder, 'link'),
    join(shelf.workFolder, '../secret'),
  ]) {
    await expect(storeFiles(shelf, 'dubbing', wav(path))).rejects.toThrow('outside');
  }
  expect(await readdir(root)).toContain('secret');
});

test('an asset that the kind does not have is a fault of the service', async () => {
  const { shelf } = await makeShelf();
  await writeFile(join(shelf.workFolder, 'x'), '');
  const products = { video: { path: join(shelf.workFolder, 'x'), contentType: 'video/mp4' as const } };
  await expect(storeFiles(shelf, 'dubbing', products)).rejects.toThrow('no asset');
});
