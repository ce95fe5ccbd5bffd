/**
 * Builds, once the packages are there. `npx vloc` in a fresh checkout links it and runs this with none installed: it must not fail then,
 * because npm would keep a broken link; bin/vloc.js installs and builds at its first start.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

if (existsSync('node_modules/rolldown')) {
  const { status, stdout, stderr } = spawnSync('npm run build', { shell: true, encoding: 'utf8' });
  if (status !== 0) process.stderr.write(stdout + stderr);
  process.exitCode = status ?? 1;
}
