/** Installs the packages of a fresh checkout, and builds it. Old syntax on purpose, as in bin/vloc.js. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));

/** The data of the command that follows goes to stdout, so npm's words go to stderr. */
function run(command) {
  return spawnSync(command, { cwd: folder, shell: true, stdio: ['ignore', 2, 2] }).status === 0;
}

// After Ctrl-C npm removes what it began. A start before that would find half of it, so this process ends after npm.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
process.stderr.write('This checkout is not built yet: running npm ci, which takes a minute.\n');
// Without warnings: on an old Node there is one for each package that wants a newer one, which is among them.
const isBuilt =
  run('npm ci --loglevel=error --no-audit --no-fund') &&
  // With ignore-scripts in the settings of npm, installing did not build.
  (existsSync(join(folder, 'dist/vloc.cjs')) || run('npm run --silent build'));
if (!isBuilt) process.stderr.write(`vloc is not built: npm failed in ${folder}\n`);
process.exitCode = isBuilt ? 0 : 1;
