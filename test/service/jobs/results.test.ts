import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { prepareFolders } from '../../../src/service/folders.ts';
import { storeFiles } from '../../../src/service/jobs/results.ts';
import { createFolderStorage } from '../../../src/service/storage/folder-storage.ts';
import { createLinkSigner } from '../../../src/service/storage/links.ts';
import { makeFolder } from '../../support/make-folder.ts';

async function makeShelf() {
  const { folders } = await prepareFolders(makeFolder());
  const { root, work } = folders;
  const storage = createFolderStorage(folders, createLinkSigner(Buffer.alloc(32)), () => '');
  const shelf = { workFolder: join(work, 'one'), assetFolder: join(folders.assets, 'one') };
  await mkdir(shelf.workFolder);
  const attempt = { folder: shelf.workFolder, signal: new AbortController().signal };
  const store: StoreWork = (kind, products) => storeFiles(storage, attempt, 'one', kind, products);
  return { root, shelf, store };
}

type StoreWork = (
  kind: Parameters<typeof storeFiles>[3],
  products: Parameters<typeof storeFiles>[4],
) => ReturnType<typeof storeFiles>;

const wav = (path: string) => ({ audio: { path, contentType: 'audio/wav' as const } });

test('a file is moved to the name of its asset and described', async () => {
  const { shelf, store } = await makeShelf();
  await writeFile(join(shelf.workFolder, 'x.tmp'), 'abc');
  const assets = await store('dubbing', wav(join(shelf.workFolder, 'x.tmp')));
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

test('neither a file outside the work folder is accepted nor a link that leads outside', async () => {
  const { root, shelf, store } = await makeShelf();
  await writeFile(join(root, 'secret'), 'secret');
  await symlink(join(root, 'secret'), join(shelf.workFolder, 'link'));
  for (const path of [
    join(root, 'secret'),
    join(shelf.workFolder, 'link'),
    join(shelf.workFolder, '../../secret'),
  ]) {
    await expect(store('dubbing', wav(path))).rejects.toThrow('outside');
  }
  expect(await readdir(root)).toContain('secret');
});

test('an asset that the kind does not have is a fault of the service', async () => {
  const { shelf, store } = await makeShelf();
  await writeFile(join(shelf.workFolder, 'x'), '');
  const products = { video: { path: join(shelf.workFolder, 'x'), contentType: 'video/mp4' as const } };
  await expect(store('dubbing', products)).rejects.toThrow('no asset');
});
