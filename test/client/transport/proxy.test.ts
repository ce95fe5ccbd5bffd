import { createServer as createProxy, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { chooseProxy } from '../../../src/client/transport/proxy.ts';
import { failureOf, startHarness } from '../support/harness.ts';

const PROXY = 'http://proxy.example.com:3128';

describe('the route to a service', () => {
  test.each([
    ['https://api.example.com/v1', '', PROXY],
    ['https://api.example.com/v1', 'example.org', PROXY],
    ['https://api.example.com/v1', 'api.example.com', null],
    ['https://api.example.com/v1', 'API.Example.com', null],
    ['https://api.example.com/v1', '.example.com', null],
    ['https://api.example.com/v1', '*.example.com', null],
    ['https://api.example.com/v1', 'example.com', null],
    ['https://myexample.com/v1', 'example.com', PROXY],
    ['https://api.example.com/v1', 'a.org, api.example.com:443', null],
    ['https://api.example.com:8443/v1', 'api.example.com:443', PROXY],
    ['https://api.example.com:8443/v1', 'api.example.com:8443 b.org', null],
    ['https://api.example.com/v1', 'a.org,*', null],
    ['https://[2001:db8::1]/v1', '2001:db8::1', null],
    ['https://[2001:db8::1]:444/v1', '[2001:db8::1]:443', PROXY],
    ['https://10.1.2.3/v1', '10.0.0.0/8', null],
    ['https://10.1.2.3:8443/v1', 'a.org, 10.1.2.3/32', null],
    ['https://11.1.2.3/v1', '10.0.0.0/8', PROXY],
    ['https://11.1.2.3/v1', '0.0.0.0/0', null],
    ['https://10.1.2.3/v1', '10.0.0.0/33', PROXY],
    ['https://10.1.2.3/v1', '10.0.0.0/', PROXY],
    ['https://10.1.2.3/v1', '2001:db8::/32', PROXY],
    ['https://10.example.com/v1', '10.0.0.0/8', PROXY],
    ['https://[2001:db8:7::1]/v1', '2001:DB8::/32', null],
    ['https://[2001:db9::1]/v1', '2001:db8::/32', PROXY],
    ['https://[fd00::1]/v1', 'fc00::/7,10.0.0.0/8', null],
    ['https://[::ffff:10.1.2.3]/v1', '10.0.0.0/8', null],
    ['https://127.0.0.1:9/v1', '', null],
    ['https://localhost:9/v1', '', null],
    ['https://[::1]:9/v1', '', null],
  ])('%s with NO_PROXY=%s is %s', (address, noProxy, way) => {
    expect(chooseProxy(new URL(address), { http: '', https: PROXY, noProxy })).toBe(way);
  });

  test('follows the scheme, and uses a proxy for this machine only on request', () => {
    const settings = { http: PROXY, https: '', noProxy: '' };
    expect(chooseProxy(new URL('https://a.example/v1'), settings)).toBeNull();
    expect(chooseProxy(new URL('http://127.0.0.1/v1'), settings)).toBeNull();
    expect(chooseProxy(new URL('http://127.0.0.1/v1'), { ...settings, loopback: true })).toBe(PROXY);
  });
});

type OnConnect = (request: IncomingMessage, socket: Duplex) => void;

async function startProxy(onConnect: OnConnect) {
  const server: Server = createProxy().on('connect', onConnect);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server has one
}

const refuse =
  (status: string): OnConnect =>
  (_request, socket) => {
    socket.on('error', () => {});
    socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`);
  };

const through = (proxy: string) => ({ proxy: { http: proxy, https: proxy, noProxy: '', loopback: true } });
const CREDITS = { method: 'GET', path: '/credits' } as const;

describe('a proxy', () => {
  test('opens a tunnel, and gets its password, which the service does not', async () => {
    const seen: (string | undefined)[] = [];
    const proxy = await startProxy((request, socket) => {
      seen.push(request.headers['proxy-authorization']);
      const [host = '', port] = (request.url ?? '').split(':');
      const upstream = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
      for (const end of [upstream, socket]) end.on('error', () => end.destroy());
    });
    const { client, server } = await startHarness(through(`http://user:canary@${proxy}`));
    expect((await client.send(CREDITS)).status).toBe(200);
    expect(seen).toEqual([`Basic ${Buffer.from('user:canary').toString('base64')}`]);
    expect(server.seen[0]?.headers['proxy-authorization']).toBeUndefined();
  });

  test.each([
    ['407 Proxy Authentication Required', 'configuration', 'PROXY_CREDENTIALS', 'user:password@'],
    ['403 Forbidden', 'configuration', 'PROXY_REFUSED', 'NO_PROXY'],
    ['502 Bad Gateway', 'temporary', 'PROXY_FAILED', 'run the same command again'],
  ])('that answers %s is distinguished from the service', async (status, category, code, advice) => {
    const proxy = await startProxy(refuse(status));
    const { client, server } = await startHarness(through(`http://user:canary@${proxy}`));
    const { facts } = await failureOf(client.send(CREDITS));
    expect(facts).toMatchObject({ category, code });
    expect(facts.message).toContain(proxy);
    expect(facts.advice).toContain(advice);
    expect(JSON.stringify(facts)).not.toContain('canary');
    expect(server.seen).toEqual([]);
  });

  test('that does not listen is named, not the service', async () => {
    const probe = createProxy();
    await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
    const { port } = probe.address() as AddressInfo; // a TCP server has one
    await new Promise((resolve) => probe.close(resolve));
    const { client } = await startHarness(through(`http://127.0.0.1:${port}`));
    const { facts } = await failureOf(client.send(CREDITS));
    expect(facts).toMatchObject({ category: 'temporary', code: 'PROXY_UNREACHABLE' });
    expect(facts.message).toContain(`the proxy 127.0.0.1:${port} refuses connections`);
    expect(facts.advice).toMatch(/^Check HTTPS_PROXY/);
  });

  test.each([
    ['drops the connection', (socket: Duplex) => socket.destroy(), 'dropped the connection'],
    ['does not speak HTTP', (socket: Duplex) => socket.end('SSH-2.0\r\n'), 'could not be reached'],
  ])('that %s is named, not the service', async (_what, answer, said) => {
    const proxy = await startProxy((_request, socket) => void answer(socket));
    const { client, server } = await startHarness(through(`http://${proxy}`));
    const { facts } = await failureOf(client.send(CREDITS));
    expect(facts).toMatchObject({ category: 'temporary', code: 'PROXY_UNREACHABLE' });
    expect(facts.message).toMatch(new RegExp(`^the proxy ${proxy} .*${said}`));
    expect(server.seen).toEqual([]);
  });

  test('a service that fails behind it is named itself', async () => {
    const proxy = await startProxy((_request, socket) => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.once('data', () => socket.destroy());
    });
    const { client } = await startHarness(through(`http://${proxy}`));
    expect((await failureOf(client.send(CREDITS))).facts).toMatchObject({ code: 'CONNECTION_RESET' });
  });

  test('with an address that cannot be used is refused before anything is sent', async () => {
    await expect(startHarness(through('http://user:50%canary@p:1'))).rejects.toMatchObject({
      message: 'proxy.http is not the address of an http or https proxy',
      facts: { category: 'configuration', code: 'PROXY_INVALID' },
    });
  });
});
