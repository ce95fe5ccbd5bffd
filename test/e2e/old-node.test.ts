/** `bin/vloc.js` on a Node that is too old: it runs the command on the Node of the checkout, and is as good as that process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** Loaded before the wrapper, and not before its child: all that a Node of today needs to pass for an old one. */
const PRETEND = `
const versions = { ...process.versions, node: '20.20.2' };
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

/** Starts the wrapper as the leader of a group of processes, as a shell or `timeout` would. */
function startWrapped(shell: readonly string[], ...args: string[]): Wrapped {
  const home = mkdtempSync(join(tmpdir(), 'old-node-'));
  for (const folder of ['bin', 'dist', 'node_modules/node/bin'])
    mkdirSync(join(home, folder), { recursive: true });
  for (const name of ['vloc.js', 'package.json'])
    copyFileSync(join(PROJECT, 'bin', name), join(home, 'bin', name));
  symlinkSync(process.execPath, join(home, 'node_modules/node/bin/node'));
  writeFileSync(join(home, 'dist/vloc.cjs'), RECORDER);
  writeFileSync(join(home, 'old.cjs'), PRETEND);
  const line = [...shell, process.execPath, '--require', join(home, 'old.cjs'), join(home, 'bin/vloc.js')];
  const [program = '', ...rest] = [...line, ...args];
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

it('returns the exit code of the command', async () => {
  expect(await startWrapped([], 'code', '7').ended).toBe(7);
});

it.each(['SIGKILL', 'SIGSEGV', 'SIGTERM', 'SIGHUP'] as const)(
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

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s ends a command that does not listen',
  async (signal) => {
    const run = startWrapped([], 'wait');
    await run.line();
    run.wrapper.kill(signal);
    expect(await run.ended).toBe(128 + constants.signals[signal]);
  },
);

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
