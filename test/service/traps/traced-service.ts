/** A service in a process of its own whose system calls are written down, where strace is installed and permitted. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Caller, type Credentials, createCaller } from '../harness/caller.ts';

/** strace may be missing, or forbidden in a container. */
export const CAN_TRACE = spawnSync('strace', ['-qq', '-e', 'trace=none', 'true']).status === 0;
/** For the names of tests, so that a run says what it did not look at. */
export const HOW = CAN_TRACE
  ? 'by its system calls'
  : 'without strace here: only by times of access and a listening socket';

/** Question marks: not every processor has all of these calls. */
const CALLS = 'trace=?open,openat,?openat2,connect';

interface TracedHost {
  readonly caller: Caller;
  readonly stateDir: string;
}

export interface TracedService {
  readonly folder: string;
  /** Calls nobody but the public internet. */
  readonly closed: TracedHost;
  /** May also call this machine. */
  readonly loopback: TracedHost;
  /** Ends the process and returns its system calls and those of its children, one per row; none without strace. */
  finish(): Promise<string[]>;
  /** Ends the process if it still runs, and removes everything. */
  remove(): Promise<void>;
}

/** Starts the host, traced where that can be. */
export async function startTraced(): Promise<TracedService> {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-traps-'));
  const trace = join(folder, 'calls.log');
  const host = [process.execPath, join(import.meta.dirname, 'traced-host.ts'), join(folder, 'state')];
  // Stopped at the wanted calls alone, the process runs nearly as fast as without.
  const tracer = ['strace', '-f', '--seccomp-bpf', '-qq', '-s', '512', '-e', CALLS, '-o', trace];
  const [program = '', ...args] = CAN_TRACE ? [...tracer, ...host] : host;
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const said: Record<string, { url: string; stateDir: string; credentials: Credentials }> = JSON.parse(line);
  const hostOf = (name: string): TracedHost => {
    const found = said[name];
    if (found === undefined) throw new Error(`the host did not say where ${name} is`);
    return { stateDir: found.stateDir, caller: createCaller(found.url, found.credentials, Date.now) };
  };
  const finish = async () => {
    child.stdin.end();
    await ended;
    return existsSync(trace) ? readFileSync(trace, 'utf8').split('\n') : [];
  };
  return {
    folder,
    closed: hostOf('closed'),
    loopback: hostOf('loopback'),
    finish,
    async remove() {
      await finish();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The rows that connect to an address of the internet, as `address:port`. */
export function dialled(calls: readonly string[]): string[] {
  return calls.flatMap((call) => {
    if (!call.includes('connect(') || !call.includes('AF_INET')) return [];
    const port = /port=htons\((\d+)\)/.exec(call)?.[1];
    const address = /inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"/.exec(call);
    return [`${address?.[1] ?? address?.[2]}:${port}`];
  });
}
