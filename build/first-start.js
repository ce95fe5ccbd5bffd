/**
 * Installs the packages of a fresh checkout, and builds it. Of several starts at the same time, one does it and the others wait. Old syntax
 * on purpose, as in bin/vloc.js.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { folder, holdLock, run } from './lock.js';

const built = join(folder, 'dist/vloc.cjs');

async function build() {
  process.stderr.write('This checkout is not built yet: running npm ci, which takes a minute.\n');
  // Without warnings: on an old Node there is one for each package that wants a newer one, which is among them.
  const isInstalled = await run('npm ci --loglevel=error --no-audit --no-fund');
  // With ignore-scripts in the settings of npm, installing did not build.
  return isInstalled && (existsSync(built) || run('npm run --silent build'));
}

async function main() {
  const release = await holdLock();
  let interruption = null;
  // After Ctrl-C npm removes what it began. A start before that would find half of it, so this process ends after npm.
  const take = (signal) => {
    interruption = signal;
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, take);
  // Another process may have built it meanwhile.
  const isBuilt = existsSync(built) || (await build());
  release();
  if (isBuilt) return;
  process.stderr.write(
    `vloc is not built: npm ${interruption === null ? 'failed' : 'was interrupted'} in ${folder}\n`,
  );
  process.exitCode = 1;
  if (interruption === null) return;
  process.removeListener(interruption, take);
  process.kill(process.pid, interruption);
}

main();
