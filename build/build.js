/**
 * Builds dist/. It is built beside its place and then renamed, so that programs that start meanwhile find the build before or this one, and
 * never a part of one.
 */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { NEW_FOLDER } from './files.js';
import { folder, holdLock, run } from './lock.js';

const built = join(folder, 'dist');
const fresh = join(folder, NEW_FOLDER);
const old = join(folder, 'dist.old');

const release = await holdLock();
try {
  // What a build that was killed has left.
  for (const path of [fresh, old]) rmSync(path, { recursive: true, force: true });
  const isBuilt =
    (await run('rolldown --config rolldown.config.js')) && (await run('tsc --project tsconfig.build.json'));
  if (isBuilt) replaceBuild();
  else process.exitCode = 1;
} finally {
  release();
}

/** Between the two names there is none: a start waits for the lock then. */
function replaceBuild() {
  try {
    renameSync(built, old);
  } catch (error) {
    // The first build.
    if (error.code !== 'ENOENT') throw error;
  }
  renameSync(fresh, built);
  rmSync(old, { recursive: true, force: true });
}
