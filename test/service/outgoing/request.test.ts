import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { AddressBlocked, resolvePermitted } from '../../../src/base/checked-connection.ts';
import {
  type OutgoingNetwork,
  sendRequest,
  TargetUnreachable,
} from '../../../src/service/outgoing/request.ts';
import { networkWith, startPlain, startSecure } from './outside.ts';
import corpus from './ssrf-corpus.json' with { type: 'json' };

const { signal } = new AbortController();
const get = (network: OutgoingNetwork, address: string, until = signal) =>
  sendRequest(network, address, { method: 'GET', headers: {} }, until);

test('a named host is reached at the address that was checked, under its own name', async () => {
  const outside = await startSecure((_request, response) => response.end('hello'));
  const network = networkWith([['127.0.0.1']]);
  const answer = await get(network, `https://media.localhost:${outside.port}/a%20b?c=d#e`);
  expect((await buffer(answer.body)).toString()).toBe('hello');
  const [request] = outside.requests;
  expect([request?.url, request?.headers.host]).toEqual(['/a%20b?c=d', `media.localhost:${outside.port}`]);
  expect(request?.socket).toHaveProperty('servername', 'media.localhost');
  expect(network.asked).toEqual(['media.localhost']);
  expect(network.dialled).toEqual([`127.0.0.1:${outside.port}`]);
});

test('a certificate for another name is refused before anything is sent', async () => {
  const outside = await startSecure((_request, response) => response.end());
  const network = networkWith([['127.0.0.1']]);
  const call = get(network, `https://other.localhost:${outside.port}/`);
  await expect(call).rejects.toThrow('it has a certificate for another name');
  expect(outside.requests).toEqual([]);
});

test('a name that changes to loopback between two requests is never connected to there', async () => {
  const network = networkWith([['93.184.216.34'], ['127.0.0.1']], false);
  const outside = await startPlain((_request, response) => response.end());
  await expect(get(network, 'https://rebind.example/')).rejects.toThrow(TargetUnreachable);
  await expect(get(network, 'https://rebind.example/')).rejects.toThrow(AddressBlocked);
  expect(network.asked).toHaveLength(2);
  expect(network.dialled).toEqual(['93.184.216.34:443']);
  expect(outside.connections()).toBe(0);
});

test('a socket with another peer than expected is closed before a byte is sent', async () => {
  const outside = await startPlain((_request, response) => response.end());
  const network: OutgoingNetwork = {
    ...networkWith([['93.184.216.34']], false),
    dial: () => connect({ host: '127.0.0.1', port: outside.port }),
  };
  const call = get(network, 'https://a.example/');
  await expect(call).rejects.toThrow('another address than the one that was checked');
  expect(outside.requests).toEqual([]);
});

test.each([
  'http://example.com/',
  'http://127.0.0.1:8080/',
  'http://localhost:8080/',
  'https://127.0.0.1/',
  'https://[::ffff:127.0.0.1]/',
  'https://2130706433/',
])('%s is neither looked up nor dialled', async (address) => {
  const network = networkWith([['1.1.1.1']], false);
  await expect(get(network, address)).rejects.toThrow(AddressBlocked);
  expect([network.asked, network.dialled]).toEqual([[], []]);
});

test('the next address is tried when one refuses', async () => {
  const outside = await startPlain((_request, response) => response.end('second'));
  const network = networkWith([['127.0.0.2', '127.0.0.1']]);
  const answer = await get(network, `http://a.localhost:${outside.port}/`);
  expect((await buffer(answer.body)).toString()).toBe('second');
  expect(network.dialled).toHaveLength(2);
});

test('a redirect is returned, not followed', async () => {
  const outside = await startPlain((_request, response) =>
    response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end(),
  );
  expect((await get(networkWith(), outside.origin)).status).toBe(302);
  expect(outside.requests).toHaveLength(1);
});

test('an answer that is not HTTP, and a silent close, are unreachable', async () => {
  let words = 'SSH-2.0-OpenSSH\r\n';
  const server = createServer((socket) => socket.on('error', () => {}).end(words)).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const at = server.address();
  const address = `http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}/`;
  await expect(get(networkWith(), address)).rejects.toThrow('it answers with something that is not HTTP');
  words = '';
  await expect(get(networkWith(), address)).rejects.toThrow('it dropped the connection');
});

test('the signal ends a running request with its reason', async () => {
  const controller = new AbortController();
  const outside = await startPlain(() => controller.abort(new Error('enough')));
  await expect(get(networkWith(), outside.origin, controller.signal)).rejects.toThrow('enough');
});

const resolveWith = (answers: string[], allowLoopback = false) =>
  resolvePermitted(
    'a.example',
    allowLoopback ? 'public-or-loopback' : 'public',
    networkWith([answers]).resolver,
    signal,
  );

test.each(corpus.deny_ip)('a name that leads to %s is refused', async (address) => {
  await expect(resolveWith([address])).rejects.toThrow(AddressBlocked);
});

test('one bad address among good ones refuses the name', async () => {
  const mixed = corpus.dns_cases.find(({ name }) => name === 'mixed A');
  await expect(resolveWith(mixed?.answers?.[0] ?? [])).rejects.toThrow(AddressBlocked);
  await expect(resolveWith(['10.0.0.1', '93.184.216.34'])).rejects.toThrow(AddressBlocked);
});

test('all good addresses of a name are returned, in order', async () => {
  expect(await resolveWith(corpus.allow_ip)).toEqual(corpus.allow_ip);
});

test('an address is checked without a look-up', async () => {
  const network = networkWith([['8.8.8.8']], false);
  const resolve = (host: string) => resolvePermitted(host, 'public', network.resolver, signal);
  await expect(resolve('127.0.0.1')).rejects.toThrow(AddressBlocked);
  expect(await resolve('1.1.1.1')).toEqual(['1.1.1.1']);
  expect(network.asked).toEqual([]);
});

test('with loopback allowed, private networks stay closed', async () => {
  expect(await resolveWith(['127.0.0.1', '::1'], true)).toHaveLength(2);
  await expect(resolveWith(['127.0.0.1', '10.0.0.1'], true)).rejects.toThrow(AddressBlocked);
  await expect(resolveWith(['169.254.169.254'], true)).rejects.toThrow(AddressBlocked);
});

test.each(['localhost', 'media.localhost'])('%s leads to this machine or nowhere', async (host) => {
  const resolve = (answer: string) =>
    resolvePermitted(host, 'public-or-loopback', async () => [answer], signal);
  expect(await resolve('127.0.0.1')).toEqual(['127.0.0.1']);
  await expect(resolve('93.184.216.34')).rejects.toThrow(AddressBlocked);
  await expect(resolve('10.0.0.1')).rejects.toThrow(AddressBlocked);
});

test('a name that is unknown or has no address is unreachable, without mentioning the name server', async () => {
  for (const answers of [[], [[]]]) {
    const call = get(networkWith(answers, false), 'https://a.example/');
    await expect(call).rejects.toThrow(new TargetUnreachable('it is not a known host name'));
  }
});

test('a look-up that hangs is not waited for', async () => {
  const controller = new AbortController();
  const resolver = () => new Promise<string[]>(() => {});
  const waiting = resolvePermitted('a.example', 'public', resolver, controller.signal);
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});
