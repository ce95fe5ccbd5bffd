/** `npx vloc` in a fresh checkout: npm links it without its packages, and the first start installs and builds. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import packageFile from '../../package.json' with { type: 'json' };
import { makeFolder } from '../support/make-folder.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** Stands for our build, which takes long: it writes what bin/vloc.js starts. */
const BUILD = `
const { mkdirSync, writeFileSync } = require('node:fs');
mkdirSync('dist', { recursive: true });
writeFileSync('dist/vloc.cjs', "exports.start = async () => { console.log('started'); return 3; };");
`;

/** The first build does not end until the test writes the file `go`. */
const LONG_BUILD = `
const { appendFileSync, existsSync, readFileSync } = require('node:fs');
appendFileSync('builds', 'begun\\n');
const build = () => { ${BUILD} appendFileSync('builds', 'ended\\n'); };
if (readFileSync('builds', 'utf8') !== 'begun\\n') build();
else {
  const timer = setInterval(() => {
    if (!existsSync('go')) return;
    clearInterval(timer);
    build();
  }, 20);
}
`;

/** A checkout with our start and our scripts, and a package.json of its own. */
function makeCheckoutFolder(content: object, locked = {}, build = BUILD) {
  const { engines } = packageFile;
  const folder = makeFolder();
  for (const name of ['bin', 'build']) mkdirSync(join(folder, name));
  const bin = ['bin/vloc.js', 'bin/needed-node.js', 'bin/package.json'];
  const scripts = ['first-start', 'prepare', 'build', 'lock', 'files'].map((name) => `build/${name}.js`);
  for (const path of [...bin, ...scripts]) copyFileSync(join(PROJECT, path), join(folder, path));
  writeFileSync(join(folder, 'build.cjs'), build);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', engines, ...content }));
  const lock = { lockfileVersion: 3, packages: { '': content, ...locked } };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  return { folder, env: { PATH: process.env.PATH, HOME: folder, npm_config_update_notifier: 'false' } };
}

/** Puts programs in front of those of this machine, for example an npm that does nothing but build. */
function addPrograms(
  checkout: ReturnType<typeof makeCheckoutFolder>,
  programs: Readonly<Record<string, string>>,
) {
  const bin = join(checkout.folder, 'programs');
  mkdirSync(bin);
  writeFileSync(join(bin, 'package.json'), '{"type":"commonjs"}');
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(bin, name), text, { mode: 0o755 });
  return { ...checkout, programs: bin, env: { ...checkout.env, PATH: `${bin}:${checkout.env.PATH}` } };
}

/** What npm needs is a second of work, and what is tested here is our own. */
const SMALL_NPM = `#!/bin/sh\nexec '${process.execPath}' build.cjs\n`;

/** Returns what starts vloc in a new checkout. */
function makeCheckout(
  content: object,
  locked = {},
): () => { code: number | null; stdout: string; stderr: string } {
  const { folder, env } = makeCheckoutFolder(content, locked);
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

/** Starts a script of Node in a group of its own, as in another terminal. */
function startProcess(script: string, env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [script], {
    env,
    cwd: tmpdir(),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code);
  const signal = (name: NodeJS.Signals) => process.kill(-(child.pid ?? Number.NaN), name);
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) signal('SIGKILL');
  });
  return { output, ended, signal };
}

/** Two starts in a checkout, the second while the first one builds. */
async function startTwo() {
  const { folder, env } = addPrograms(makeCheckoutFolder({}, {}, LONG_BUILD), { npm: SMALL_NPM });
  const read = (name: string) =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '';
  const start = () => startProcess(join(folder, 'bin/vloc.js'), env);
  const wait = { timeout: 170_000, interval: 50 };
  const first = start();
  await vi.waitUntil(() => read('builds') !== '', wait);
  const second = start();
  await vi.waitUntil(() => second.output.stderr.includes('is building this checkout: waiting for it'), wait);
  return { first, second, read, finish: () => writeFileSync(join(folder, 'go'), '') };
}

it('is built once by two starts at the same time: the second waits, and says so', async () => {
  const { first, second, read, finish } = await startTwo();
  finish();
  expect(await Promise.all([first.ended, second.ended])).toEqual([3, 3]);
  expect([first.output.stdout, second.output.stdout]).toEqual(['started\n', 'started\n']);
  expect(read('builds')).toBe('begun\nended\n');
  expect(read('.vloc-build.lock')).toBe('');
});

it.skipIf(process.platform === 'win32')(
  'is built by the start that waited if the first one was killed',
  async () => {
    const { first, second, read } = await startTwo();
    first.signal('SIGKILL');
    expect(await first.ended).toBe(null);
    expect(await second.ended).toBe(3);
    expect(second.output.stdout).toBe('started\n');
    expect(read('builds')).toBe('begun\nbegun\nended\n');
  },
);

it.skipIf(process.platform === 'win32')(
  'is used as the npm of a killed start has built it, and not before',
  async () => {
    const { first, second, read, finish } = await startTwo();
    process.kill(Number(read('.vloc-build.lock').split('\n', 1)), 'SIGKILL');
    finish();
    expect(await second.ended).toBe(3);
    expect(await first.ended).toBe(137);
    expect(read('builds')).toBe('begun\nended\n');
  },
);

it.skipIf(process.platform === 'win32')('stops to wait at Ctrl-C', async () => {
  const { first, second, finish } = await startTwo();
  second.signal('SIGINT');
  expect(await second.ended).toBe(130);
  finish();
  expect(await first.ended).toBe(3);
});

/** Stands for the bundler: a program of two files, of which the second has another name each time and is loaded a moment later. */
const BUNDLER = `#!${process.execPath}
const { appendFileSync, existsSync, mkdirSync, writeFileSync } = require('node:fs');
appendFileSync('builds', 'begun\\n');
const part = 'part-' + process.pid + '.cjs';
const timer = setInterval(() => {
  if (!existsSync('go')) return;
  clearInterval(timer);
  mkdirSync('dist.new', { recursive: true });
  writeFileSync('dist.new/' + part, "exports.start = async () => { console.log('started'); return 3; };");
  writeFileSync('dist.new/vloc.cjs', "const begun = Date.now(); while (Date.now() < begun + 100); module.exports = require('./" + part + "');");
}, 20);
`;

/** A checkout that is built by our script, with other programs than those of npm. */
function makeBuiltCheckout() {
  const checkout = makeCheckoutFolder({ scripts: { prepare: 'echo installed >> builds' } });
  const { folder, programs, env } = addPrograms(checkout, { rolldown: BUNDLER, tsc: '#!/bin/sh\n' });
  return {
    read: (name: string) => readFileSync(join(folder, name), 'utf8'),
    has: (name: string) => existsSync(join(folder, name)),
    finish: () => writeFileSync(join(folder, 'go'), ''),
    built: () => readdirSync(join(folder, 'dist')),
    breakCompiler: () => writeFileSync(join(programs, 'tsc'), '#!/bin/sh\nexit 2\n'),
    build: () => startProcess(join(folder, 'build/build.js'), env),
    start: () => startProcess(join(folder, 'bin/vloc.js'), env),
  };
}

describe.skipIf(process.platform === 'win32')('a build', () => {
  it('is waited for by a start that has none, which then installs nothing', async () => {
    const { build, start, finish, has, read } = makeBuiltCheckout();
    const building = build();
    await vi.waitUntil(() => has('builds'), { timeout: 60_000, interval: 50 });
    const started = start();
    await vi.waitUntil(() => started.output.stderr.includes('waiting for it'), {
      timeout: 60_000,
      interval: 50,
    });
    finish();
    expect(await Promise.all([building.ended, started.ended])).toEqual([0, 3]);
    expect(read('builds')).toBe('begun\n');
  });

  it('replaces the one before at once: a start finds one of them whole', async () => {
    const { build, start, finish, has, read } = makeBuiltCheckout();
    finish();
    expect(await build().ended).toBe(0);
    let isBuilding = true;
    const codes = new Set<unknown>();
    const startAgain = async () => {
      while (isBuilding) codes.add(await start().ended);
    };
    const starting = Promise.all([startAgain(), startAgain()]);
    for (let count = 0; count < 2; count += 1) expect(await build().ended).toBe(0);
    isBuilding = false;
    await starting;
    expect(codes).toEqual(new Set([3]));
    expect(read('builds')).toBe('begun\n'.repeat(3));
    expect(['dist.new', 'dist.old', '.vloc-build.lock'].filter(has)).toEqual([]);
  });

  it('that fails leaves the one before as it was', async () => {
    const { build, built, breakCompiler, start, finish, has } = makeBuiltCheckout();
    finish();
    expect(await build().ended).toBe(0);
    const before = built();
    breakCompiler();
    expect(await build().ended).not.toBe(0);
    expect(built()).toEqual(before);
    expect(await start().ended).toBe(3);
    expect(has('.vloc-build.lock')).toBe(false);
  });

  it('that was killed is not in the way of the next', async () => {
    const { build, start, finish, has } = makeBuiltCheckout();
    const killed = build();
    await vi.waitUntil(() => has('builds'), { timeout: 60_000, interval: 50 });
    killed.signal('SIGKILL');
    await killed.ended;
    finish();
    expect(await build().ended).toBe(0);
    expect(await start().ended).toBe(3);
  });
});
