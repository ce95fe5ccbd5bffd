/** Starts the two compared servers, each in a separate process. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { CLEAN_ENV } from '../measure.ts';
import type { CannedAnswer } from './bare.ts';
import type { Target } from './sign.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** More than any bench sends, because requests are measured, not refusals. */
const WITHOUT_LIMIT = 1e9;

interface Running {
  readonly port: number;
  /** CPU time of the process, user and system, in the kernel's ticks of 10 ms (Linux). */
  cpuTicks(): number;
  /** Memory of the process now, in MiB (Linux). */
  residentMiB(): number;
  stop(): Promise<void>;
}

export interface RunningService extends Running {
  readonly target: Target;
}

export interface BareServer extends Running {
  /** Sets the answer to all following requests. */
  answerWith(answer: CannedAnswer): Promise<void>;
}

interface NodeOptions {
  /** Address of the database of its account. Default: it is in the state folder. */
  readonly database?: string;
  /** Jobs at a time. Default: none. */
  readonly workers?: number;
}

/** Starts the built service on a state folder, without limits on rate and tasks. */
export async function startService(
  stateDir: string,
  { database = '', workers = 0 }: NodeOptions = {},
): Promise<RunningService> {
  const child = fork(here('host.ts'), [stateDir, database, String(workers)]);
  const sent = (await firstMessage(child)) as Record<'url' | 'key' | 'secret', string>; // sent by host.ts
  const { url, key, secret } = sent;
  const { host, port } = new URL(url);
  return { ...running(child, Number(port)), target: { host, key, secret } };
}

/** Starts the built `vloc serve` as a user does, without a limit on the rate and without workers. */
export async function startServe(folder: string): Promise<RunningService> {
  const config = join(folder, 'serve.json');
  writeFileSync(
    config,
    JSON.stringify({ rate: { requests: WITHOUT_LIMIT, window_seconds: 60 }, workers: 0 }),
  );
  const places = ['--config', config, '--state-dir', join(folder, 'serve')];
  const args = [here('../../bin/vloc.js'), 'serve', ...places, '--quiet', '--output', 'json'];
  const child = spawn(process.execPath, args, { env: CLEAN_ENV, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(child.stdout), 'line');
  const { base_url, key, secret } = JSON.parse(String(line));
  const { host, port } = new URL(base_url);
  return { ...running(child, Number(port), () => child.kill('SIGTERM')), target: { host, key, secret } };
}

/** A bare `node:http` server. */
export async function startBare(): Promise<BareServer> {
  const child = fork(here('bare.ts'));
  const port = Number(await firstMessage(child));
  return {
    ...running(child, port),
    async answerWith(answer) {
      child.send(answer);
      await firstMessage(child);
    },
  };
}

function firstMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve).once('exit', (code) => reject(new Error(`a server ended with ${code}`)));
  });
}

function running(child: ChildProcess, port: number, end = () => child.disconnect()): Running {
  return {
    port,
    cpuTicks() {
      // The program name is in parentheses. After it, user and system time are fields 12 and 13.
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return Number(fields[11]) + Number(fields[12]);
    },
    residentMiB() {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
    },
    stop() {
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      end();
      return ended;
    },
  };
}
