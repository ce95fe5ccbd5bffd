/** `npx vloc` in a fresh checkout: npm links it without its packages, and the first start installs and builds. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** Stands for our build, which takes long: it writes what bin/vloc.js starts. */
const BUILD = `
const { mkdirSync, writeFileSync } = require('node:fs');
mkdirSync('dist');
writeFileSync('dist/vloc.cjs', "exports.start = async () => { console.log('started'); return 3; };");
`;

/** A checkout with our start and our scripts, and a package.json of its own. Returns what starts vloc in it. */
function makeCheckout(
  packageFile: object,
  locked = {},
): () => { code: number | null; stdout: string; stderr: string } {
  const folder = mkdtempSync(join(tmpdir(), 'fresh-checkout-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['bin', 'build']) mkdirSync(join(folder, name));
  for (const path of ['bin/vloc.js', 'bin/package.json', 'build/first-start.js', 'build/prepare.js'])
    copyFileSync(join(PROJECT, path), join(folder, path));
  writeFileSync(join(folder, 'build.cjs'), BUILD);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', ...packageFile }));
  const lock = { lockfileVersion: 3, packages: { '': packageFile, ...locked } };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const env = { PATH: process.env.PATH, HOME: folder, npm_config_update_notifier: 'false' };
  return () => {
    const options = { env, encoding: 'utf8', cwd: tmpdir() } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'bin/vloc.js')], options);
    return { code: status, stdout, stderr };
  };
}

it('is built once, and its output contains nothing of npm', () => {
  const start = makeCheckout({ scripts: { prepare: 'echo building && node build.cjs' } });
  const first = start();
  expect(first).toMatchObject({ code: 3, stdout: 'started\n' });
  expect(first.stderr).toContain('This checkout is not built yet: running npm ci');
  expect(first.stderr).toContain('building');
  expect(start()).toEqual({ code: 3, stdout: 'started\n', stderr: '' });
});

it('says why it cannot be built, and tries again at the next start', () => {
  const start = makeCheckout(
    { dependencies: { missing: 'file:missing.tgz' } },
    { 'node_modules/missing': { version: '1.0.0', resolved: 'file:missing.tgz' } },
  );
  for (let count = 0; count < 2; count += 1) {
    const { code, stdout, stderr } = start();
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toMatch(/missing\.tgz[\s\S]*vloc is not built: npm failed in /);
  }
});

it('is built even if the settings of npm forbid scripts, or npm only links it', () => {
  // npm runs `prepare` when it links a package, too, and that builds nothing while there is no rolldown.
  const start = makeCheckout({ scripts: { prepare: 'node build/prepare.js', build: 'node build.cjs' } });
  expect(start()).toMatchObject({ code: 3, stdout: 'started\n' });
});

it.skipIf(process.platform !== 'linux')('does not end before npm after Ctrl-C', () => {
  // Sends the signal of Ctrl-C to our processes above npm. This npm succeeds, so they continue; without listeners they would have ended.
  const interrupt = `
    const { readFileSync } = require('node:fs');
    const read = (pid, name) => readFileSync('/proc/' + pid + '/' + name, 'utf8');
    for (let pid = process.ppid; pid > 1; pid = Number(read(pid, 'stat').split(') ')[1].split(' ')[1]))
      if (/(first-start|bin\\/vloc)\\.js/.test(read(pid, 'cmdline'))) process.kill(pid, 'SIGINT');`;
  const command = `node -e '${interrupt.replaceAll('\n', ' ').replaceAll("'", '"')}'`;
  const start = makeCheckout({ scripts: { prepare: `${command} && node build.cjs` } });
  expect(start()).toMatchObject({ code: 3, stdout: 'started\n' });
});
