/**
 * Builds after `npm install`. `npx vloc` in a checkout links it and runs this, too, perhaps each time and with nothing installed: then it does
 * nothing, because npm keeps a broken link if it fails, and bin/vloc.js builds what is missing. The same with `npm install --global .`.
 *
 * npm starts this with the Node among the packages. If npm itself runs on an older one, it skipped native parts that need a newer one,
 * such as those of rolldown, without a word: they are optional. So npm runs again, on this Node.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Major and minor version in a text such as `>=22.19` or `npm/9.2.0 node/v18.20.4 linux x64`. */
function readVersion(text) {
  return /(?:>=|node\/v)(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number) ?? [Infinity];
}

function isNpmOnOldNode() {
  const [major, minor] = readVersion(process.env.npm_config_user_agent ?? '');
  const [neededMajor, neededMinor] = readVersion(
    JSON.parse(readFileSync('package.json', 'utf8')).engines.node,
  );
  return major < neededMajor || (major === neededMajor && minor < neededMinor);
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
