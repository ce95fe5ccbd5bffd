import { execFile } from 'node:child_process';
import { createServer as createProxy } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { type ClientOptions, createClient, Failure } from '../../../src/client/index.ts';
import { fileOf, makeCertificate, trust } from '../../support/certificates.ts';
import { makeFolder } from '../../support/make-folder.ts';

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => void server.close());
  return (server.address() as AddressInfo).port; // a TCP server has one
}

/** An https service with a certificate of its own for one name. */
async function startTls(name: string) {
  const folder = makeFolder();
  const certificate = makeCertificate(folder, name);
  let requests = 0;
  const server = createServer({ ...certificate }, (_request, response) => {
    requests += 1;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"fine":true}');
  });
  server.on('tlsClientError', () => {});
  return { port: await listen(server), certificate, file: fileOf(folder, name), requests: () => requests };
}

/** The answer to one signed call, or the facts of its failure. */
async function callOnce(options: Pick<ClientOptions, 'baseUrl' | 'proxy'>) {
  const client = createClient({ key: 'key', secret: 'secret', ...options });
  onTestFinished(() => client.close());
  try {
    const { status, body } = await client.send({ method: 'GET', path: '/credits' });
    return { status, body };
  } catch (error) {
    if (error instanceof Failure) return error.facts;
    throw error;
  }
}

test('a service whose certificate NODE_EXTRA_CA_CERTS names is used', async () => {
  const { port, file } = await startTls('IP:127.0.0.1');
  const script = new URL('../support/call-once.ts', import.meta.url).pathname;
  const settings = JSON.stringify({ key: 'key', secret: 'secret', baseUrl: `https://127.0.0.1:${port}/v1` });
  const env = { NODE_EXTRA_CA_CERTS: file };
  const { stdout } = await promisify(execFile)(process.execPath, [script, settings], { env });
  expect(JSON.parse(stdout)).toEqual({ status: 200, body: { fine: true } });
});

test('an untrusted certificate is refused, with what to do', async () => {
  const { port, requests } = await startTls('IP:127.0.0.1');
  const facts = await callOnce({ baseUrl: `https://127.0.0.1:${port}/v1` });
  expect(facts).toMatchObject({ category: 'configuration', code: 'TLS_CERTIFICATE', retryable: false });
  expect(facts).toMatchObject({ advice: expect.stringContaining('NODE_EXTRA_CA_CERTS') });
  expect(requests()).toBe(0);
});

test('a certificate for another host is refused', async () => {
  const { port, certificate, requests } = await startTls('DNS:other.example');
  onTestFinished(trust(certificate));
  expect(await callOnce({ baseUrl: `https://127.0.0.1:${port}/v1` })).toMatchObject({
    category: 'configuration',
    code: 'TLS_CERTIFICATE',
    message: expect.stringContaining('another name'),
  });
  expect(requests()).toBe(0);
});

test('a proxy is used for hosts elsewhere, sees only a tunnel, and never gets requests to this machine', async () => {
  const { port, certificate, requests } = await startTls('DNS:api.example.com,IP:127.0.0.1');
  onTestFinished(trust(certificate));
  const tunnels: string[] = [];
  const proxy = createProxy().on('connect', (request, socket) => {
    tunnels.push(request.url ?? '');
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    for (const end of [upstream, socket]) end.on('error', () => end.destroy());
  });
  const url = `http://127.0.0.1:${await listen(proxy)}`;
  const settings = { proxy: { http: url, https: url, noProxy: '' } };
  const far = await callOnce({ baseUrl: 'https://api.example.com/v1', ...settings });
  expect(far).toEqual({ status: 200, body: { fine: true } });
  expect(tunnels).toEqual(['api.example.com:443']);
  await callOnce({ baseUrl: `https://127.0.0.1:${port}/v1`, ...settings });
  expect(tunnels).toHaveLength(1);
  expect(requests()).toBe(2);
});

test('the certificate of a proxy is not that of the service', async () => {
  const [service, proxy] = [await startTls('IP:127.0.0.1'), await startTls('IP:127.0.0.1')];
  onTestFinished(trust(service.certificate));
  const facts = await callOnce({
    baseUrl: `https://127.0.0.1:${service.port}/v1`,
    proxy: { http: '', https: `https://127.0.0.1:${proxy.port}`, noProxy: '', loopback: true },
  });
  expect(facts).toMatchObject({
    code: 'PROXY_UNREACHABLE',
    message: `the proxy 127.0.0.1:${proxy.port} has a certificate that is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)`,
  });
});
