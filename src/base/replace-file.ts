import { randomUUID } from 'node:crypto';
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from './folder.ts';
import { syncFile } from './sync.ts';
import { onDisk } from './system-error.ts';

/** Replaces a file atomically: readers see the old one or the new one. Its permissions stay. @throws Failure (`disk`) */
export async function replaceFile(path: string, content: Uint8Array | string): Promise<void> {
  await onDisk(path, async () => {
    const folder = dirname(path);
    const draft = join(folder, `.vloc-${randomUUID()}.part`);
    try {
      await makeFolder(folder);
      const { mode = 0o666 } = (await stat(path).catch(() => null)) ?? {};
      await writeFile(draft, content, { flag: 'wx', mode });
      await syncFile(draft);
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true }).catch(() => undefined);
      throw error;
    }
  });
}
