import { once } from 'node:events';
import { createServer, type LookupFunction, connect as open, type Socket } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { describe, expect, inject, it } from 'vitest';

const failure = (socket: Socket) => once(socket, 'error').then(([error]) => String(error));

/** Replaces DNS: every name has this address. */
const resolveTo =
  (address: string): LookupFunction =>
  (_name, { all }, done) =>
    all ? done(null, [{ address, family: 4 }]) : done(null, address, 4);

describe('the suite', () => {
  it('reaches no address beyond this machine', async () => {
    expect(await failure(open({ host: '192.0.2.1', port: 443 }))).toContain(
      'tests talk to this machine only',
    );
    expect(await failure(open({ host: '2001:db8::1', port: 443 }))).toContain('this machine only');
  });

  it('reaches no name that resolves beyond this machine', async () => {
    const socket = open({ host: 'api.example.com', port: 443, lookup: resolveTo('192.0.2.1') });
    expect(await failure(socket)).toContain('api.example.com (192.0.2.1)');
  });

  it('reaches servers on this machine, by address and by name', async () => {
    const server = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const at = server.address();
    const port = typeof at === 'object' && at !== null ? at.port : 0;
    for (const host of ['127.0.0.1', 'localhost']) {
      const [bytes] = await once(open({ host, port, lookup: resolveTo('127.0.0.1') }), 'data');
      expect(String(bytes)).toBe('hello');
    }
    server.close();
  });

  it("keeps away from the user's home, state and temporary files", () => {
    const ours = inject('runFolder');
    const { env } = process;
    for (const folder of [homedir(), tmpdir(), env.VLOC_STATE_DIR, env.VLOC_CONFIG_DIR, env.XDG_STATE_HOME]) {
      expect(folder?.startsWith(ours)).toBe(true);
    }
    expect(env.VLOC_KEY).toBeUndefined();
    expect(env.VLOC_BASE_URL).toBeUndefined();
  });
});
