/** Nodes whose connections to the database pass through a firewall that forgets them, or through a pooler. */

import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/service/clock.ts';
import { openBucket } from '../../src/service/storage/bucket.ts';
import { readS3Address } from '../../src/service/storage/s3-address.ts';
import { createS3Storage } from '../../src/service/storage/s3-storage.ts';
import { type ReservedUpload, StorageAway } from '../../src/service/storage/storage.ts';
import { NEW_JOB, startScene, until, untilJob } from '../service/harness/scene.ts';
import { afterDeath } from '../support/after-death.ts';
import { findFreePort } from '../support/free-port.ts';
import { makeFolder } from '../support/make-folder.ts';
import { freshAccount, type PostgresServer } from '../support/postgres.ts';
import { NO_POSTGRES, usePostgres } from '../support/use-postgres.ts';
import { translation } from './fleet.ts';

const PROGRAM = '/usr/sbin/pgbouncer';
const HAS_PGBOUNCER = existsSync(PROGRAM);
/** PgBouncer refuses to run as root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Starts one with nothing but what its manual demands, and returns the address of the database behind it. Ends with the test. */
async function startPgBouncer(
  server: Pick<PostgresServer, 'url'>,
  mode: 'session' | 'transaction',
): Promise<string> {
  const root = mkdtempSync('/tmp/vpb-');
  const port = await findFreePort();
  const socket = new URL(server.url).searchParams.get('host') ?? '';
  writeFileSync(join(root, 'users'), '"vloc" "secret"\n');
  writeFileSync(
    join(root, 'pgbouncer.ini'),
    `[databases]
postgres = host=${socket}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(root, 'users')}
pool_mode = ${mode}
`,
  );
  if (NOBODY.uid !== undefined) chownSync(root, NOBODY.uid, NOBODY.gid);
  const child = spawn(PROGRAM, ['-q', join(root, 'pgbouncer.ini')], { ...NOBODY, stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stopWatching = afterDeath('kill -9 "$1"; rm -rf "$2"', [String(child.pid), root], NOBODY);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    stopWatching();
    rmSync(root, { recursive: true, force: true });
  });
  await untilOpen(port);
  return `postgres://vloc:secret@127.0.0.1:${port}/postgres`;
}

async function untilOpen(port: number): Promise<void> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const server = usePostgres();

/** Passes bytes to the server. `forget` drops what comes on the connections that exist, without closing them. */
async function startFirewall(): Promise<{ url: string; forget(): void }> {
  const account = new URL(freshAccount(server));
  const path = `${account.searchParams.get('host')}/.s.PGSQL.5432`;
  const known = new Set<Socket>();
  const firewall = createServer((near) => {
    const far = connect(path);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      known.add(from);
      from.on('error', () => {});
      from.on('data', (bytes) => known.has(from) && to.write(bytes));
      from.on('close', () => known.has(from) && to.destroy());
    }
  });
  await new Promise<void>((resolve) => firewall.listen(0, '127.0.0.1', resolve));
  const sockets = new Set<Socket>();
  firewall.on('connection', (socket) => sockets.add(socket));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    firewall.close();
  });
  const { port } = firewall.address() as AddressInfo; // a TCP server has one
  return {
    url: `postgres://vloc:secret@127.0.0.1:${port}/postgres?schema=${account.searchParams.get('schema')}`,
    forget: () => known.clear(),
  };
}

describe.skipIf(NO_POSTGRES)(
  'a node whose connections are dropped silently (needs postgresql: sh .ci/packages)',
  () => {
    it('answers all requests again within 10 s, with new connections', async () => {
      const { url, forget } = await startFirewall();
      const { caller } = await startScene({ stateDir: makeFolder(), database: url });
      const ask = () => Promise.all(Array.from({ length: 25 }, () => caller.get('/v1/credits')));
      expect((await ask()).map(({ status }) => status)).toEqual(Array(25).fill(200));
      forget();
      // Before, a statement waited 35 s for its answer.
      const isRight = async () => (await ask()).every(({ status }) => status === 200);
      await until(isRight, (right) => right, 10_000);
      expect((await caller.post(NEW_JOB, translation())).status).toBe(202);
    });
  },
);

describe('a storage that accepts connections and never answers', () => {
  // The limit is that of the test.
  it('is given up within 20 s while a caller waits', { timeout: 20_000 }, async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => void sockets.add(socket.on('error', () => {})));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo; // a TCP server has one
    const address = readS3Address(
      `s3://silent?endpoint=${encodeURIComponent(`http://127.0.0.1:${port}`)}`,
      {},
    );
    const bucket = openBucket(address, { accessKeyId: 'id', secretAccessKey: 'secret' }, Date.now);
    onTestFinished(() => {
      bucket.close();
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const storage = createS3Storage({
      ...{ bucket, prefix: '', clock: systemClock, now: Date.now },
      log: () => {},
      isOurs: async () => {},
    });
    const asked = storage.findUpload({ id: 'upl_00000000000000000000000000' } as ReservedUpload); // a cast: it reads only the id
    await expect(asked).rejects.toThrow(StorageAway);
  });
});

describe.skipIf(NO_POSTGRES || !HAS_PGBOUNCER)(
  'a node behind PgBouncer (needs postgresql and pgbouncer: sh .ci/packages)',
  () => {
    it('carries out jobs if each client has a session', async () => {
      const database = await startPgBouncer(server, 'session');
      const { caller } = await startScene({
        stateDir: makeFolder(),
        database: `${database}?schema=behind_session`,
      });
      const { json } = await caller.post(NEW_JOB, translation());
      expect((await untilJob(caller, json, 'succeeded')).status).toBe('succeeded');
    });

    it('does not start if clients share sessions, and says which mode to use', async () => {
      const database = await startPgBouncer(server, 'transaction');
      const started = startScene({
        stateDir: makeFolder(),
        database: `${database}?schema=behind_transaction`,
      });
      await expect(started).rejects.toMatchObject({
        facts: {
          code: 'DATABASE_UNUSABLE',
          message: expect.stringContaining('behind a pooler whose clients share sessions'),
          advice: expect.stringContaining('pool_mode = session'),
        },
      });
    });
  },
);
