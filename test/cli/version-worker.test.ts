import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { askRegistry, learnLatest } from '../../src/cli/version-worker.ts';
import { makeFolder } from '../support/make-folder.ts';

let answer: (request: IncomingMessage, response: ServerResponse) => void;
let asked: IncomingMessage[];
const server = createServer((request, response) => {
  asked.push(request);
  answer(request, response);
});
let registry: string;
beforeEach(async () => {
  asked = [];
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}/npm`; // it listens on a port
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

it('asks for the newest version only, and sends nothing about this machine', async () => {
  answer = (_, response) => response.end('{"latest":"1.2.3","next":"2.0.0-rc.1"}');
  expect(await askRegistry(registry)).toBe('1.2.3');
  expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /npm/-/package/vloc/dist-tags']);
  expect(Object.keys(asked[0]?.headers ?? {}).sort()).toEqual([
    'accept',
    'accept-encoding',
    'connection',
    'host',
  ]);
});

it.each<[string, typeof answer]>([
  ['is not JSON', (_, response) => response.end('<html>')],
  ['has no version', (_, response) => response.end('{"latest":"\u001b[31mnew"}')],
  ['is an error', (_, response) => response.writeHead(404).end('{"latest":"9.0.0"}')],
  ['redirects', (_, response) => response.writeHead(302, { location: '/other' }).end()],
  ['is too long', (_, response) => response.end(`{"latest":"9.0.0","x":"${'x'.repeat(70_000)}"}`)],
  [
    'breaks off',
    (_, response) => response.writeHead(200, { 'content-length': 99 }).write('{', () => response.destroy()),
  ],
])('learns nothing from an answer that %s', async (_, given) => {
  answer = given;
  expect(await askRegistry(registry)).toBe(null);
  expect(asked).toHaveLength(1);
});

it('adds the answer to the record', async () => {
  answer = (_, response) => response.end('{"latest":"1.2.3"}');
  const file = join(makeFolder(), 'update.json');
  writeFileSync(file, '{"asked":5,"latest":null,"mentioned":4}');
  await learnLatest(registry, file);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ asked: 5, latest: '1.2.3', mentioned: 4 });
});
