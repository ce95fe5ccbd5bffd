/** The embedded service as a server for other programs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Installation, openInstallation } from './packed.ts';

const MINUTES = 60_000;

let vloc: Installation;
let server: ChildProcess;
let announced: { base_url: string; key: string; secret: string; webhook_secret: string };
let firstLine: string;
beforeAll(async () => {
  vloc = await openInstallation();
  server = spawn(vloc.program, ['serve', '--output', 'json'], {
    cwd: vloc.folder,
    env: vloc.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (server.stdout === null) throw new Error('there is no stdout');
  [firstLine] = await once(createInterface({ input: server.stdout }), 'line');
  announced = JSON.parse(firstLine);
}, 5 * MINUTES);
afterAll(() => {
  server.kill('SIGKILL');
  vloc.remove();
});

const credentials = () => ({
  VLOC_BASE_URL: announced.base_url,
  VLOC_KEY: announced.key,
  VLOC_SECRET: announced.secret,
});

describe('vloc serve --output json', () => {
  it('prints on its first line where it listens and with which keys', () => {
    expect(Object.keys(announced)).toEqual(['base_url', 'key', 'secret', 'webhook_secret']);
    expect(announced.base_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  });

  it('serves other runs of vloc that have its address and key', async () => {
    const { code, stderr } = await vloc.runWith(credentials(), 'jobs', 'get', 'loc_none');
    expect(code).toBe(1);
    expect(stderr).toContain('RESOURCE_NOT_FOUND · req_');
  });

  it('drains on SIGTERM and ends with 0', async () => {
    server.kill('SIGTERM');
    const [code] = await once(server, 'exit');
    expect(code).toBe(0);
  });
});
