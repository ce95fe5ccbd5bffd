/**
 * An S3 server of its own for tests: OpenStack Swift with its interface for S3, from Debian's packages, in a folder that is removed
 * with it. It checks signatures, signed headers, expiry, clocks and rights as the servers of operators do.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterDeath } from './after-death.ts';
import { findFreePort } from './free-port.ts';

const SWIFT_MODULES = '/usr/lib/python3/dist-packages/swift/common/middleware/s3api';
const SWIFT = fileURLToPath(new URL('swift-servers.py', import.meta.url));

/** Whether its programs are installed. */
export const HAS_S3 = ['/usr/bin/memcached', SWIFT_MODULES].every((path) => existsSync(path));

const S3_REGION = 'us-east-1';

/** Who may do what: the owner everything, the reader what the owner of a bucket allows. */
export const S3_OWNER = { AWS_ACCESS_KEY_ID: 'test:tester', AWS_SECRET_ACCESS_KEY: 'testing' };
export const S3_READER = { AWS_ACCESS_KEY_ID: 'test:reader', AWS_SECRET_ACCESS_KEY: 'reading' };

/** What tests ask a server that several files share. */
export interface S3Access {
  /** Scheme, host and port. */
  readonly endpoint: string;
  /** Returns the value of `--storage` for a bucket. */
  address(bucket: string): string;
  /** Creates a bucket. `rights` are the rules of Swift: `read` such as `.r:*` or `test:reader`. */
  createBucket(bucket: string, rights?: { readonly read?: string }): Promise<void>;
  /** Returns the names of all objects of a bucket, sorted. */
  list(bucket: string): Promise<string[]>;
  read(bucket: string, name: string): Promise<Buffer>;
  /** Puts or removes an object, as an operator or another program would. */
  write(bucket: string, name: string, bytes: Uint8Array | string): Promise<void>;
  remove(bucket: string, name: string): Promise<void>;
}

export interface S3Server extends S3Access {
  /** Ends all its processes, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again, with the same address and data. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server that listens on a port of this machine, with its files below a folder. */
export async function startS3(folder = tmpdir()): Promise<S3Server> {
  if (!HAS_S3) throw new Error('OpenStack Swift is not installed');
  const root = mkdtempSync(join(folder, 'vs3-'));
  const [cache = 0, account = 0, container = 0, object = 0, proxy = 0] = await Promise.all(
    Array.from({ length: 5 }, findFreePort),
  );
  const ports = { cache, account, container, object, proxy };
  configure(root, ports);
  const endpoint = `http://127.0.0.1:${ports.proxy}`;
  let processes: ChildProcess[] = [];
  let stopWatching = () => {};
  const run = (program: string, ...args: string[]) => {
    const child = spawn(program, args, { stdio: 'ignore', cwd: root, env: { PATH: process.env.PATH } });
    processes.push(child);
  };
  const server: S3Server = {
    ...accessS3(endpoint),
    async start() {
      run('memcached', '-l', '127.0.0.1', '-p', String(ports.cache), '-u', userInfo().username);
      run('/usr/bin/python3', SWIFT, root, ...SERVERS.map((name) => String(ports[name])));
      stopWatching = afterDeath(
        'kill -9 "$@"',
        processes.map(({ pid }) => String(pid)),
      );
      const failed = Promise.race(processes.map(untilEnded));
      await Promise.race([Promise.all(Object.values(ports).map(untilListening)), failed]);
    },
    async kill() {
      const ended = processes.map(
        (child) =>
          new Promise<void>((resolve) =>
            child.exitCode === null ? child.once('exit', () => resolve()) : resolve(),
          ),
      );
      for (const child of processes) child.kill('SIGKILL');
      await Promise.all(ended);
      stopWatching();
      processes = [];
    },
    async stop() {
      await this.kill();
      rmSync(root, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

/** Access to a server that runs at an endpoint. */
export function accessS3(endpoint: string): S3Access {
  let token: Promise<{ url: string; token: string }> | null = null;
  const attempt = async (path: string, init: RequestInit): Promise<Response> => {
    token ??= logIn(endpoint);
    const { url, token: value } = await token;
    return fetch(url + path, { ...init, headers: { ...init.headers, 'X-Auth-Token': value } });
  };
  /** Its own interface, which needs no signatures. */
  const native = async (path: string, init: RequestInit = {}): Promise<Response> => {
    let response = await attempt(path, init);
    if (response.status === 401) {
      // It was started again, and knows no tokens.
      token = null;
      response = await attempt(path, init);
    }
    if (!response.ok) throw new Error(`${init.method ?? 'GET'} ${path}: ${response.status}`);
    return response;
  };
  return {
    endpoint,
    address: (bucket) => `s3://${bucket}?endpoint=${encodeURIComponent(endpoint)}&region=${S3_REGION}`,
    async createBucket(bucket, { read } = {}) {
      await native(`/${bucket}`, {
        method: 'PUT',
        headers: read === undefined ? {} : { 'X-Container-Read': read },
      });
    },
    list: async (bucket) =>
      (await (await native(`/${bucket}`)).text()).split('\n').filter((name) => name !== ''),
    read: async (bucket, name) => Buffer.from(await (await native(`/${bucket}/${name}`)).arrayBuffer()),
    async write(bucket, name, bytes) {
      await native(`/${bucket}/${name}`, { method: 'PUT', body: bytes });
    },
    async remove(bucket, name) {
      await native(`/${bucket}/${name}`, { method: 'DELETE' });
    },
  };
}

const SERVERS = ['account', 'container', 'object', 'proxy'] as const;

type Ports = Readonly<Record<'cache' | (typeof SERVERS)[number], number>>;

function configure(root: string, ports: Ports): void {
  const etc = join(root, 'etc');
  const devices = join(root, 'srv');
  for (const folder of [etc, join(devices, 'd1')]) mkdirSync(folder, { recursive: true });
  const write = (name: string, lines: readonly string[]) =>
    writeFileSync(join(etc, name), `${lines.join('\n')}\n`);
  write('swift.conf', [
    '[swift-hash]',
    'swift_hash_path_suffix = tests',
    'swift_hash_path_prefix = tests',
    '[storage-policy:0]',
    'name = Policy-0',
    'default = yes',
  ]);
  const common = (port: number) => [
    '[DEFAULT]',
    'bind_ip = 127.0.0.1',
    `bind_port = ${port}`,
    // In one process, which a signal ends as a whole.
    'workers = 0',
    `user = ${userInfo().username}`,
    `swift_dir = ${etc}`,
    `devices = ${devices}`,
    'mount_check = false',
    `log_address = ${join(root, 'no-log')}`,
  ];
  for (const name of ['account', 'container', 'object'] as const) {
    const port = ports[name];
    const app = [
      `[pipeline:main]`,
      `pipeline = ${name}-server`,
      `[app:${name}-server]`,
      `use = egg:swift#${name}`,
    ];
    write(`${name}-server.conf`, [...common(port), ...app]);
  }
  const filters = {
    'proxy-logging': [],
    catch_errors: [],
    cache: [`memcache_servers = 127.0.0.1:${ports.cache}`],
    s3api: [`location = ${S3_REGION}`],
    tempauth: ['user_test_tester = testing .admin', 'user_test_reader = reading'],
    slo: [],
    dlo: [],
  };
  write('proxy-server.conf', [
    ...common(ports.proxy),
    '[pipeline:main]',
    'pipeline = catch_errors proxy-logging cache s3api tempauth slo dlo proxy-logging proxy-server',
    '[app:proxy-server]',
    'use = egg:swift#proxy',
    'account_autocreate = true',
    'allow_account_management = true',
    ...Object.entries(filters).flatMap(([name, lines]) => [
      `[filter:${name}]`,
      `use = egg:swift#${name === 'cache' ? 'memcache' : name.replace('-', '_')}`,
      ...lines,
    ]),
  ]);
}

async function logIn(endpoint: string): Promise<{ url: string; token: string }> {
  const { AWS_ACCESS_KEY_ID: user, AWS_SECRET_ACCESS_KEY: key } = S3_OWNER;
  const { headers } = await fetch(`${endpoint}/auth/v1.0`, {
    headers: { 'X-Auth-User': user, 'X-Auth-Key': key },
  });
  return { url: headers.get('x-storage-url') ?? '', token: headers.get('x-auth-token') ?? '' };
}

/** Rejects when a process ends. */
function untilEnded(child: ChildProcess): Promise<never> {
  const failed = new Promise<never>((_resolve, reject) =>
    child.once('exit', (code) => reject(new Error(`${child.spawnfile} ended with ${code}`))),
  );
  failed.catch(() => {});
  return failed;
}

/** Waits until something accepts connections on a port. */
async function untilListening(port: number): Promise<void> {
  const giveUpAt = Date.now() + 120_000;
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.end(() => resolve(true)));
      socket.on('error', () => resolve(false));
    });
    if (isOpen) return;
    if (Date.now() > giveUpAt) throw new Error(`nothing listens on port ${port}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
