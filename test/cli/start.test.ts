/** The edge as a process of its own, whose stdout is a file. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { startVloc } from '../commands/support/run-vloc.ts';
import { until } from '../service/harness/scene.ts';
import { makeFolder } from '../support/make-folder.ts';

const START = new URL('../../src/cli/start.ts', import.meta.url).href;
const PROGRAM = `import(${JSON.stringify(START)}).then(({ start }) => start(process)).then((code) => process.exit(code))`;

/** What a pipe holds while nobody reads. Source: Linux, pipe(7). */
const PIPE_BYTES = 64 * 1024;

/** Runs vloc with stdout at that file; `limit` is the number of 512 byte blocks that files may have. */
function run(words: readonly string[], file: string, limit: string) {
  const stdout = openSync(file, 'w');
  try {
    const { status, stderr } = spawnSync(
      'sh',
      ['-c', `ulimit -f ${limit}; exec "$0" -e "$@"`, process.execPath, PROGRAM, 'vloc', ...words],
      { stdio: ['ignore', stdout, 'pipe'], cwd: fileURLToPath(new URL('../..', import.meta.url)) },
    );
    return { code: status, stderr: stderr.toString() };
  } finally {
    closeSync(stdout);
  }
}

it.runIf(existsSync('/dev/full'))('a full disk for stderr changes nothing', async () => {
  const { env } = await startVloc();
  const full = openSync('/dev/full', 'w');
  try {
    const child = spawn(process.execPath, ['-e', PROGRAM, 'vloc', 'credits', '--verbose'], {
      stdio: ['ignore', 'ignore', full],
      env: { ...process.env, ...env },
    });
    expect(await once(child, 'exit')).toEqual([0, null]);
  } finally {
    closeSync(full);
  }
});

/** Runs a shell script that finds vloc in `$VLOC`, two words. In a folder that was deleted, Node starts no module. */
async function startShell(script: string, env: Record<string, string> = {}) {
  const folder = makeFolder();
  const program = join(folder, 'vloc.cjs');
  writeFileSync(program, PROGRAM);
  const child = spawn('sh', ['-c', script], {
    cwd: folder,
    env: { ...process.env, VLOC: `${process.execPath} ${program}`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (part) => (said[name] += part));
  return { child, said, ended: once(child, 'close') };
}

it.skipIf(process.platform === 'win32')('a folder that was deleted is refused in one line', async () => {
  const refused = await startShell('mkdir gone && cd gone && rmdir ../gone && exec $VLOC credits');
  expect(await refused.ended).toEqual([2, null]);
  expect(refused.said.stdout).toBe('');
  expect(refused.said.stderr).toMatch(
    /^✖ the current folder was deleted, or cannot be read \(ENOENT\)\n.*Change to/,
  );
  expect(refused.said.stderr).not.toContain('   at ');
});

it.skipIf(process.platform === 'win32')(
  'a run under nohup ends on SIGHUP with its exit code, and SIGUSR1 opens no debugger',
  async () => {
    const { child, said, ended } = await startShell('exec nohup $VLOC webhooks listen --until j -o ndjson', {
      VLOC_WEBHOOK_SECRET: 's',
    });
    await once(child.stdout, 'data');
    expect(said.stdout).toContain('"listening"');
    child.kill('SIGUSR1');
    child.kill('SIGHUP');
    expect(await ended).toEqual([129, null]);
    expect(said.stderr).not.toContain('Debugger');
    expect(said.stdout).toContain('"summary"');
  },
);

it('data that were written only in part are not reported as complete', async () => {
  const file = join(makeFolder(), 'schema.json');
  const { code, stderr } = run(['schema'], file, '16');
  expect(code).toBe(10);
  expect(stderr).toContain('the file would exceed your limits');
  expect(stderr).not.toContain('   at ');
});

it('a slow reader gets all data', () => {
  const program = `"$0" -e "$1" vloc schema | (sleep 1; cat)`;
  const { stdout } = spawnSync('sh', ['-c', program, process.execPath, PROGRAM], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  });
  expect(stdout.length).toBeGreaterThan(PIPE_BYTES);
  expect(JSON.parse(stdout.toString())).toHaveProperty('openapi');
});

/** A service of its own until the test ends, with what it has said on stderr. */
async function startServe(...words: string[]) {
  const env = { ...process.env, VLOC_STATE_DIR: makeFolder() };
  const args = ['-e', PROGRAM, 'vloc', 'serve', '--output', 'plain', '--log', 'text', ...words];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stderr.on('data', (part) => {
    said += part;
  });
  const ended = once(child, 'close');
  const [url] = await once(child.stdout, 'data');
  return { child, ended, stderr: () => said, origin: new URL(String(url)).origin };
}

it.skipIf(process.platform === 'win32')('serve drains on SIGHUP', async () => {
  const { child, ended, stderr, origin } = await startServe('--shutdown-delay', '10m');
  expect((await fetch(`${origin}/readyz`)).status).toBe(200);
  child.kill('SIGHUP');
  await until(stderr, (text) => text.includes('a second signal ends this now'));
  expect((await fetch(`${origin}/readyz`)).status).toBe(503);
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
