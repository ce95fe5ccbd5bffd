/** The orders to the processes of a cluster, and their answers. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Caller, type Credentials, createCaller } from '../service/harness/caller.ts';

export type ClusterRole = 'api' | 'worker';

export interface ClusterOrders {
  readonly database: string;
  readonly stateDir: string;
  readonly role: ClusterRole;
  /** Jobs that may be queued or processing at a time. */
  readonly openJobs: number;
}

/** Points in the transaction that ends a job. */
export const CLUSTER_MOMENTS = ['before the ledger', 'before the commit', 'after the commit'] as const;
export type ClusterMoment = (typeof CLUSTER_MOMENTS)[number];

/** Said once, when it takes requests and jobs. */
export interface ClusterWord {
  /** Null for a worker, which answers no requests. */
  readonly api: { readonly url: string; readonly credentials: Credentials } | null;
}

/** What is between a node and the database, or under its folder of running jobs. */
export type Route = 'direct' | 'black-hole' | 'pooler' | 'small-disk';

/** A node that may be dead. */
export interface ClusterNode {
  readonly role: ClusterRole;
  readonly route: Route;
  readonly pid: number;
  /** Folder of its running jobs. */
  readonly workDir: string;
  /** Resolves once it works, or has died before. */
  readonly ready: Promise<void>;
  /** Whether it takes requests or jobs, as far as it has said. */
  isWorking(): boolean;
  /** A caller of an API node that works now. */
  caller(): Caller | null;
  /** It kills itself at that moment of the next end of a job. */
  dieAt(moment: ClusterMoment): void;
  readonly ended: Promise<void>;
  kill(): Promise<void>;
}

/** Mounts a disk of 256 KiB that only this process sees, and becomes the node. */
const ON_SMALL_DISK = 'mount -t tmpfs -o size=256k,nr_inodes=64 none "$0" && exec "$@"';

export function startNode(orders: ClusterOrders, route: Route): ClusterNode {
  const host = join(import.meta.dirname, 'cluster-host.ts');
  const workDir = join(orders.stateDir, 'work');
  const words = [process.execPath, host, JSON.stringify(orders)];
  const isSmall = route === 'small-disk';
  if (isSmall) mkdirSync(workDir, { recursive: true });
  const [program = '', ...args] = isSmall
    ? ['unshare', '-m', 'sh', '-c', ON_SMALL_DISK, workDir, ...words]
    : words;
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // The channel breaks with the process; what matters then is its end.
  child.on('error', () => {});
  let caller: Caller | null = null;
  const ended = once(child, 'exit').then(() => {
    caller = null;
  });
  let hasBegun = false;
  const listening = once(child, 'message').then(([word]: ClusterWord[]) => {
    hasBegun = true;
    const api = isOver(child) ? null : (word?.api ?? null);
    if (api !== null) caller = createCaller(api.url, api.credentials, Date.now);
  });
  return {
    role: orders.role,
    route,
    workDir,
    pid: child.pid ?? 0,
    ready: Promise.race([ended, listening]),
    isWorking: () => hasBegun && !isOver(child),
    caller: () => caller,
    dieAt: (moment) => void child.send(moment),
    ended,
    async kill() {
      caller = null;
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const isOver = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;
