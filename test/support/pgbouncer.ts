/** A PgBouncer of its own for tests, from Debian's package, in front of a PostgreSQL server of theirs. */
import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { afterDeath } from './after-death.ts';
import { findFreePort } from './free-port.ts';
import type { PostgresServer } from './postgres.ts';

const PROGRAM = '/usr/sbin/pgbouncer';
export const HAS_PGBOUNCER = existsSync(PROGRAM);
/** PgBouncer refuses to run as root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Starts one with nothing but what its manual demands, and returns the address of the database behind it. Ends with the test. */
export async function startPgBouncer(
  server: PostgresServer,
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
