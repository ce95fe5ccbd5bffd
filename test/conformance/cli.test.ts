import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createService, type IssuedKey } from '../../src/service/index.ts';
import { makeFolder } from '../support/make-folder.ts';
import { main } from './cli/main.ts';

/** A service with its own header name, and its first key. */
async function startService(): Promise<IssuedKey & { url: string }> {
  const stateDir = makeFolder();
  const service = await createService({ stateDir, config: { headerPrefix: 'X-Acme' } });
  onTestFinished(async () => {
    await service.close();
  });
  const [key] = await service.keys();
  if (key === undefined) throw new Error('the service has no key');
  return { ...key, url: service.url };
}

/** A server that answers as the test defines. Listens until the test ends. Returns the base URL. */
async function startImpostor(answer: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    // An answer before the request is complete would break the sender's connection.
    request.resume().on('end', () => answer(request, response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // a TCP server has one
  return `http://127.0.0.1:${port}/v1`;
}

async function run(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  let out = '';
  let err = '';
  const code = await main(argv, env, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { code, out, err };
}

test('a correct service ends the run with 0, a row for each rule and the count', async () => {
  const { url, key, secret } = await startService();
  const target = ['--base-url', url, '--key', key, '--header-prefix', 'X-Acme'];
  const { code, out } = await run([...target, '--only', 'cursors.'], { CONFORMANCE_SECRET: secret });
  expect(out).toMatch(/^ok {6}cursors\.length {2}a cursor has at most 1024 characters$/m);
  expect(out).toMatch(/^skipped cursors\.of-other-key .*\n\s+no second key was given with --other-key$/m);
  expect(out).toMatch(/\n4 passed, 0 failed, 1 skipped\n$/);
  expect(code).toBe(0);
});

test('a service that breaks a rule ends the run with 1 and the observed behaviour, without control characters', async () => {
  const url = await startImpostor((_request, response) => {
    response
      .writeHead(500, { 'Content-Type': 'application/json' })
      .end('{"code":"\\u001b[31mBROKEN\\u0007"}');
  });
  const target = ['--base-url', url, '--key', 'k', '--only', 'credits.balance'];
  const { code, out } = await run(target, { CONFORMANCE_SECRET: 's' });
  expect(out).toContain('expected 200; GET /v1/credits answered 500');
  expect(out).toMatch(/0 passed, 1 failed, 0 skipped\n$/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not reach a terminal
  expect(out).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
  expect(code).toBe(1);
});

test.each([
  [[], '--base-url is missing'],
  [['--base-url', 'https://api.example.com/v1', '--key', 'k'], 'CONFORMANCE_SECRET is not set'],
])('%j ends with 2 before anything is sent', async (argv, message) => {
  const { code, out, err } = await run(argv);
  expect(err).toContain(message);
  expect(err).toContain('Usage:');
  expect(out).toBe('');
  expect(code).toBe(2);
});
