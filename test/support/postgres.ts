/** A PostgreSQL server of its own for tests, from Debian's package, in a folder that is removed with it. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterDeath } from './after-death.ts';

/** The folder of its programs, which Debian does not put in PATH; null if it is not installed. */
export const POSTGRES_PROGRAMS = findPrograms();

function findPrograms(): string | null {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root)
    ? readdirSync(root).sort((one, other) => Number(other) - Number(one))
    : [];
  const folders = versions.map((version) => join(root, version, 'bin'));
  return folders.find((folder) => existsSync(join(folder, 'initdb'))) ?? null;
}

/** PostgreSQL refuses to run as root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export interface PostgresServer {
  /** Address of the database that it is created with. */
  readonly url: string;
  /** Ends it as a crash of the machine would: nothing is written any more. */
  kill(): void;
  /** Number of the process whose children answer connections. */
  pid(): number;
  start(): void;
  stop(): void;
}

let schemas = 0;

/** Returns the address of an account that does not exist yet, also if other processes use the server. */
export function freshAccount({ url }: Pick<PostgresServer, 'url'>): string {
  schemas += 1;
  return `${url}&schema=account_${process.pid}_${schemas}`;
}

/** Here nothing waits for the disk. */
const MEMORY = '/dev/shm';

interface PostgresOptions {
  /** It waits for the disk, as in production; tests survive only the end of processes. */
  readonly isDurable?: boolean;
  /** An address of this machine that it listens on, too, with the usual port. */
  readonly listen?: string;
  /** It listens on a port of 127.0.0.1, too, and speaks only TLS there. */
  readonly tls?: { readonly port: number; readonly key: Buffer; readonly cert: Buffer };
}

/** Starts a server that listens on a socket alone, unless the options say otherwise. */
export function startPostgres({ isDurable = false, listen = '', tls }: PostgresOptions = {}): PostgresServer {
  if (POSTGRES_PROGRAMS === null) throw new Error('PostgreSQL is not installed');
  // The folder of the tests is closed to other users, and the path of a socket has at most 107 bytes.
  const elsewhere = existsSync(MEMORY) ? MEMORY : '/tmp';
  const root = mkdtempSync(
    join(NOBODY.uid === undefined && tmpdir().length < 60 ? tmpdir() : elsewhere, 'vpg-'),
  );
  const data = join(root, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (NOBODY.uid !== undefined) for (const folder of [root, data]) chownSync(folder, NOBODY.uid, NOBODY.gid);
  const run = (program: string, ...args: string[]) =>
    execFileSync(join(POSTGRES_PROGRAMS ?? '', program), args, {
      ...NOBODY,
      cwd: root,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  const password = join(root, 'password');
  writeFileSync(password, 'secret\n');
  if (NOBODY.uid !== undefined) chownSync(password, NOBODY.uid, NOBODY.gid);
  const user = ['-U', 'vloc', '--auth=scram-sha-256', `--pwfile=${password}`];
  run('initdb', '-D', data, ...user, '--no-sync', '--encoding=UTF8', '--locale=C.UTF-8');
  if (listen !== '') appendFileSync(join(data, 'pg_hba.conf'), 'host all all samenet scram-sha-256\n');
  if (tls !== undefined) {
    // Instead of the lines that allow connections without TLS.
    writeFileSync(
      join(data, 'pg_hba.conf'),
      'local all all scram-sha-256\nhostssl all all 127.0.0.1/32 scram-sha-256\n',
    );
    appendFileSync(join(data, 'postgresql.conf'), `ssl = on\nport = ${tls.port}\n`);
    for (const [name, bytes] of Object.entries({ 'server.key': tls.key, 'server.crt': tls.cert })) {
      writeFileSync(join(data, name), bytes, { mode: 0o600 });
      if (NOBODY.uid !== undefined) chownSync(join(data, name), NOBODY.uid, NOBODY.gid);
    }
  }
  const addresses = tls === undefined ? listen : '127.0.0.1';
  const stopWatching = afterDeath(
    '"$1" -D "$2" -m immediate stop; rm -rf "$3"',
    [join(POSTGRES_PROGRAMS, 'pg_ctl'), data, root],
    NOBODY,
  );
  const server: PostgresServer = {
    url: `postgres:///postgres?host=${root}&user=vloc&password=secret`,
    start() {
      // The files of a run share one, and the conformance suite alone has ten services at a time, with eight connections of each node.
      const options = `-c listen_addresses='${addresses}' -k ${root} -c fsync=${isDurable ? 'on' : 'off'} -c max_connections=500`;
      run('pg_ctl', '-D', data, '-w', '-o', options, '-l', join(root, 'log'), 'start');
    },
    pid: () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n', 1)[0]),
    kill: () => void run('pg_ctl', '-D', data, '-m', 'immediate', 'stop'),
    stop() {
      run('pg_ctl', '-D', data, '-w', '-m', 'immediate', 'stop');
      rmSync(root, { recursive: true, force: true });
      stopWatching();
    },
  };
  server.start();
  return server;
}
