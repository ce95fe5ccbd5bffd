/** Faults of parts around the nodes of a cluster: disks, networks, poolers and processes that stand still. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../support/free-port.ts';
import type { ClusterNode, ClusterRole } from './cluster-orders.ts';
import type { Random } from './random.ts';

export const CLUSTER_FAULTS = ['frozen', 'black-hole', 'no-workers', 'pooler', 'disk'] as const;
export type ClusterFault = (typeof CLUSTER_FAULTS)[number];

/** Longer than the lease of a job, so that others take it over. */
const FROZEN_MS = 20_000;
/** Longer than the time within which a node must notice that its connections are dead. */
const HOLE_MS = 25_000;
const NO_WORKERS_MS = 8_000;
const POOLER_MS = 2_000;
const FULL_DISK_MS = 8_000;

/** The cluster that the faults happen to. */
export interface FaultyCluster {
  readonly random: Random;
  readonly violations: string[];
  readonly nodes: readonly ClusterNode[];
  /** Number of accepted jobs. */
  accepted(): number;
  readonly line: DatabaseLine | null;
  readonly pooler: Pooler | null;
  /** Nodes of the role that end are not replaced until the returned function is called. */
  hold(role: ClusterRole): () => void;
  /** The jobs of the node must be taken over from now on. Returns their number. */
  abandon(node: ClusterNode): Promise<number>;
  /** Returns the number of jobs that the node carries out. */
  countJobs(node: ClusterNode): Promise<number>;
}

/** One fault: it happens, lasts, and is over. */
export const FAULTS: Readonly<Record<ClusterFault, (cluster: FaultyCluster) => Promise<void>>> = {
  async frozen(cluster) {
    const victim = cluster.random.pick(await readyNodes(cluster, ({ role }) => role === 'worker'));
    try {
      // With a job, which others must take over.
      for (let held = 0; held === 0; ) {
        process.kill(victim.pid, 'SIGCONT');
        await sleep(20);
        process.kill(victim.pid, 'SIGSTOP');
        held = await cluster.abandon(victim);
      }
      await sleep(FROZEN_MS);
    } finally {
      process.kill(victim.pid, 'SIGCONT');
    }
  },
  async 'black-hole'(cluster) {
    const { line } = cluster;
    const isMeant = ({ route, role }: ClusterNode) => route === 'black-hole' && role === 'worker';
    const [worker] = await readyNodes(cluster, isMeant);
    if (worker === undefined) throw new Error('no worker is behind the line');
    while ((await cluster.countJobs(worker)) === 0) await sleep(20);
    line?.swallow();
    await cluster.abandon(worker);
    await sleep(HOLE_MS);
    line?.cut();
  },
  async 'no-workers'(cluster) {
    const workers = await readyNodes(cluster, ({ role }) => role === 'worker');
    const release = cluster.hold('worker');
    const before = cluster.accepted();
    await Promise.all(workers.map((node) => node.kill()));
    await sleep(NO_WORKERS_MS);
    if (cluster.accepted() === before) cluster.violations.push('no job was accepted while no worker ran');
    release();
  },
  async pooler({ pooler }) {
    await pooler?.stop();
    await sleep(POOLER_MS);
    pooler?.start();
  },
  async disk(cluster) {
    const [victim] = await readyNodes(cluster, ({ route }) => route === 'small-disk');
    if (victim === undefined) throw new Error('no worker has a small disk');
    const filler = join(`/proc/${victim.pid}/root`, victim.workDir, 'filler');
    fill(filler);
    await sleep(FULL_DISK_MS);
    rmSync(filler, { recursive: true, force: true });
  },
};

async function readyNodes(
  { nodes }: FaultyCluster,
  isMeant: (node: ClusterNode) => boolean,
): Promise<ClusterNode[]> {
  await Promise.all(nodes.map(({ ready }) => ready));
  return nodes.filter(isMeant);
}

/** Fills a disk: neither a byte nor a file is free afterwards. */
function fill(folder: string): void {
  const isFull = (write: () => void) => {
    try {
      write();
      return false;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return true;
      throw error;
    }
  };
  if (isFull(() => mkdirSync(folder, { recursive: true }))) return;
  const page = Buffer.alloc(4096);
  for (let at = 0; !isFull(() => writeFileSync(join(folder, `${at}`), page)); at += 1);
  for (let at = 0; !isFull(() => writeFileSync(join(folder, `empty-${at}`), '')); at += 1);
}

/** A line to the database that can swallow what it should carry, while it looks connected. */
export interface DatabaseLine {
  readonly port: number;
  /** The connections of now carry nothing more, in both directions. New ones work. */
  swallow(): void;
  /** Ends the connections that carry nothing. */
  cut(): void;
  close(): void;
}

/** @param folder that of the socket of the server */
export async function openLine(folder: string): Promise<DatabaseLine> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const dead = new Set<Socket>();
  const end = (sockets: Iterable<Socket>) => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((near) => {
    const far = connect(join(folder, '.s.PGSQL.5432'));
    const pair = [near, far] as const;
    pairs.add(pair);
    near.pipe(far);
    far.pipe(near);
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        // A swallowed line does not report that its other end is gone.
        if (pairs.delete(pair)) end(pair);
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port, // it listens on a port
    swallow() {
      for (const [near, far] of pairs) {
        near.unpipe(far).pause();
        far.unpipe(near).pause();
        dead.add(near).add(far);
      }
      pairs.clear();
    },
    cut() {
      end(dead);
      dead.clear();
    },
    close() {
      end(dead);
      for (const pair of pairs) end(pair);
      server.close();
    },
  };
}

export const POOLER_PROGRAM = '/usr/sbin/pgbouncer';

export interface Pooler {
  readonly port: number;
  start(): void;
  /** Kills it, as a crash would. */
  stop(): Promise<void>;
}

/**
 * Starts PgBouncer in session mode.
 * @param folder for its file of settings
 * @param socket folder of the socket of the server
 */
export async function startPooler(folder: string, socket: string): Promise<Pooler> {
  const port = await findFreePort();
  const file = join(folder, 'pgbouncer.ini');
  const settings = [
    '[databases]',
    `postgres = host=${socket} user=vloc password=secret`,
    '[pgbouncer]',
    `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =`,
    'auth_type = any\npool_mode = session\nmax_client_conn = 200\ndefault_pool_size = 100',
  ];
  writeFileSync(file, settings.join('\n'));
  // It refuses to run as root, and the folder of the run is closed to others.
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  if (nobody.uid !== undefined) {
    chmodSync(folder, 0o711);
    chownSync(file, nobody.uid, nobody.gid);
  }
  let child: ChildProcess | null = null;
  const pooler: Pooler = {
    port,
    start() {
      child = spawn(POOLER_PROGRAM, ['--quiet', file], { ...nobody, stdio: 'ignore' });
    },
    async stop() {
      if (child === null || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
  pooler.start();
  return pooler;
}
