/** Scripts in one file each, for tests that start the same one dozens of times: loading the sources is most of such a start. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { inject } from 'vitest';
import { buildScript } from './bundle-script.ts';

/** Bundles a script once in a run of the suite. @returns the path of the bundle */
export async function bundleScript(path: string): Promise<string> {
  const name = basename(path, '.ts');
  const folder = join(inject('runFolder'), `bundled-${name}`);
  if (!existsSync(folder)) {
    // Under another name until it is whole: two test processes may make it at the same time.
    const made = `${folder}.${process.pid}`;
    await buildScript(path, made);
    try {
      renameSync(made, folder);
    } catch (error) {
      if (!existsSync(folder)) throw error;
      rmSync(made, { recursive: true });
    }
  }
  return join(folder, `${name}.mjs`);
}
