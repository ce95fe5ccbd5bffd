/**
 * Builds after `npm install`. `npx vloc` in a checkout links it and runs this, too, perhaps each time and with nothing installed: then it does
 * nothing, because npm keeps a broken link if it fails, and bin/vloc.js builds what is missing. The same with `npm install --global .`.
 *
 * npm starts this with the Node among the packages. If npm itself runs on an older one, it skipped native parts that need a newer one,
 * such as those of rolldown, without a word: they are optional. So npm runs again, on this Node.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { isSupported } from '../bin/needed-node.js';

function isNpmOnOldNode() {
  const [, version] = /node\/v([\d.]+)/.exec(process.env.npm_config_user_agent ?? '') ?? [];
  return version !== undefined && !isSupported(version);
}

function run(command) {
  const { status, stdout, stderr } = spawnSync(command, { shell: true, encoding: 'utf8' });
  if (status !== 0) process.stderr.write(stdout + stderr);
  return status === 0;
}

if (process.env.npm_command !== 'exec' && existsSync('node_modules/rolldown')) {
  const npm = process.env.npm_execpath;
  const install = `"${process.execPath}" "${npm}" install --no-save --ignore-scripts --no-audit --no-fund`;
  const isComplete = npm === undefined || !isNpmOnOldNode() || run(install);
  if (!isComplete || !run('npm run build')) process.exitCode = 1;
}
