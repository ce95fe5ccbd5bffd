/**
 * `bin/vloc.js` on a Node that vloc does not support: it runs the command on the Node of the checkout, and is as good as that process. A package
 * has no other Node, and refuses.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../support/make-folder.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** Loaded before the wrapper, and not before its child: all that a Node of today needs to pass for another one. */
const pretend = (version: string) => `
const versions = { ...process.versions, node: '${version}' };
globalThis.process = new Proxy(process, {
  get: (target, name) => {
    if (name === 'versions') return versions;
    const value = target[name];
    return typeof value === 'function' ? value.bind(target) : value;
  },
  set: (target, name, value) => { target[name] = value; return true; },
});
`;

/** A command that prints its pid and each signal that it takes, and ends as its first argument says. */
const RECORDER = `
exports.start = (host) => new Promise((resolve) => {
  setInterval(() => undefined, 60_000);
  const [ending, value] = host.argv.slice(2);
  if (ending === 'code') return resolve(Number(value));
  if (ending === 'killed') return host.kill(host.pid, value);
  if (ending === 'listen') for (const name of ['SIGINT', 'SIGTERM']) host.on(name, () => console.log(name));
  console.log(host.pid, JSON.stringify(Object.keys(host.env).filter((name) => name === 'VLOC_WRAPPED')));
});
`;

interface Wrapped {
  readonly wrapper: ChildProcess;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** The next line that the command prints; undefined when stdout is closed, which is when all its processes are gone. */
  line(): Promise<string | undefined>;
}

/** Returns the words that run `bin/vloc.js` beside nothing but a recorder, on a Node that says it is this one. */
function makePackage(version: string): { readonly home: string; readonly command: readonly string[] } {
  const home = makeFolder();
  for (const folder of ['bin', 'dist']) mkdirSync(join(home, folder));
  for (const name of ['bin/vloc.js', 'bin/needed-node.js', 'bin/package.json', 'package.json'])
    copyFileSync(join(PROJECT, name), join(home, name));
  writeFileSync(join(home, 'dist/vloc.cjs'), RECORDER);
  writeFileSync(join(home, 'old.cjs'), pretend(version));
  const command = [process.execPath, '--require', join(home, 'old.cjs'), join(home, 'bin/vloc.js')];
  return { home, command };
}

/** Starts the wrapper as the leader of a group of processes, as a shell or `timeout` would. */
function startWrapped(shell: readonly string[], ...args: string[]): Wrapped {
  const { home, command } = makePackage('20.20.2');
  mkdirSync(join(home, 'node_modules/node/bin'), { recursive: true });
  symlinkSync(process.execPath, join(home, 'node_modules/node/bin/node'));
  const [program = '', ...rest] = [...shell, ...command, ...args];
  const wrapper = spawn(program, rest, { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(wrapper, 'exit').then(([code, signal]) => code ?? signal);
  const lines = createInterface({ input: wrapper.stdout })[Symbol.asyncIterator]();
  onTestFinished(async () => {
    wrapper.kill('SIGKILL');
    // The end of stdout: no process has it open.
    while (!(await lines.next()).done);
  });
  return { wrapper, ended, line: async () => (await lines.next()).value };
}

const groupOf = ({ wrapper }: Wrapped): number => -(wrapper.pid ?? Number.NaN);

async function startListening(): Promise<Wrapped & { readonly pid: number }> {
  const run = startWrapped([], 'listen');
  const [pid = '', env] = ((await run.line()) ?? '').split(' ');
  expect(Number(pid)).not.toBe(run.wrapper.pid);
  expect(env).toBe('[]');
  return { ...run, pid: Number(pid) };
}

function runIn(version: string, ...args: string[]) {
  const [program = '', ...rest] = makePackage(version).command;
  return spawnSync(program, [...rest, ...args], { encoding: 'utf8' });
}

it.each(['22.18.0', '23.11.1'])('in a package, Node %s is refused in one line', (version) => {
  const { status, stdout, stderr } = runIn(version, 'code', '7');
  expect([status, stdout]).toEqual([4, '']);
  expect(stderr).toMatch(
    new RegExp(
      `^vloc needs Node 22\\.\\d+ or a newer 22, or [\\d.]+ or newer; this is ${version}\\. Install .*\\n$`,
    ),
  );
});

it.each(['22.19.0', '24.0.0', '26.10.0'])('in a package, the command runs on Node %s', (version) => {
  expect(runIn(version, 'code', '7')).toMatchObject({ status: 7, stderr: '' });
});

it('returns the exit code of the command', async () => {
  expect(await startWrapped([], 'code', '7').ended).toBe(7);
});

it.each(['SIGKILL', 'SIGTERM'] as const)(
  'returns 128 and the signal when %s ends the command',
  async (signal) => {
    expect(await startWrapped([], 'killed', signal).ended).toBe(128 + constants.signals[signal]);
  },
);

it('ends the command when the wrapper is killed', async () => {
  const run = await startListening();
  run.wrapper.kill('SIGKILL');
  expect(await run.ended).toBe('SIGKILL');
  expect(await run.line()).toBeUndefined();
});

it('passes on a signal that only the wrapper got', async () => {
  const run = await startListening();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGINT'] as const) {
    run.wrapper.kill(signal);
    expect(await run.line()).toBe(signal);
  }
});

it('does not pass on a signal that the whole group got, as Ctrl-C on a terminal and `timeout` send it', async () => {
  const run = await startListening();
  for (let round = 0; round < 10; round += 1) {
    process.kill(groupOf(run), 'SIGINT');
    expect(await run.line()).toBe('SIGINT');
    // Takes the same way as the signal: a second SIGINT would arrive first.
    run.wrapper.kill('SIGTERM');
    expect(await run.line()).toBe('SIGTERM');
  }
});

it.each(['SIGINT', 'SIGHUP'] as const)('%s ends a command that does not listen', async (signal) => {
  const run = startWrapped([], 'wait');
  await run.line();
  run.wrapper.kill(signal);
  expect(await run.ended).toBe(128 + constants.signals[signal]);
});

it.runIf(process.platform === 'linux')('stops and continues with the wrapper', async () => {
  // Only in a job of a shell does a stop from the terminal have an effect.
  const run = startWrapped(['bash', '-c', 'set -m; "$@" & echo $!; read', 'bash'], 'listen');
  const wrapper = Number(await run.line());
  onTestFinished(() => {
    process.kill(wrapper, 'SIGKILL');
    process.kill(command, 'SIGCONT');
  });
  const command = Number.parseInt((await run.line()) ?? '', 10);
  process.kill(wrapper, 'SIGTSTP');
  await expect.poll(() => [wrapper, command].map(readState)).toEqual(['T', 'T']);
  process.kill(wrapper, 'SIGCONT');
  process.kill(wrapper, 'SIGTERM');
  expect(await run.line()).toBe('SIGTERM');
  expect([wrapper, command].map(readState)).not.toContain('T');
  process.kill(wrapper, 'SIGTSTP');
  await expect.poll(() => [wrapper, command].map(readState)).toEqual(['T', 'T']);
});

/** Source: proc_pid_stat(5), field 3. */
function readState(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2)[0];
}
