import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { syncFile, syncFolder, syncFolderNow } from '../../src/base/sync.ts';
import { makeFolder } from '../support/make-folder.ts';
import { syncAsOnWindows } from '../support/sync-as-on-windows.ts';

describe.each(['here', 'on Windows'])('%s', (place) => {
  it('a file and the names in a folder are synced', async () => {
    const folder = makeFolder();
    const file = join(folder, 'file');
    await writeFile(file, 'text');
    if (place === 'on Windows') await syncAsOnWindows();
    await syncFile(file);
    await syncFolder(folder);
    syncFolderNow(folder);
  });
});

it('a file that cannot be synced is an error, a missing folder is not', async () => {
  const missing = join(makeFolder(), 'missing');
  await expect(syncFile(missing)).rejects.toThrow('ENOENT');
  await syncFolder(missing);
  syncFolderNow(missing);
});
