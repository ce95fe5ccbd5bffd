import { execFile } from 'node:child_process';
import { createServer as createProxy } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import type { ClientOptions } from '../../../src/client/index.ts';
import { fileOf, makeCertificate } from '../../support/certificates.ts';
import { makeFolder } from '../../support/make-folder.ts';

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => void server.close());
  return (server.address() as AddressInfo).port; // a TCP server has one
}

/** An https service with a certificate of its own for one name. */
async function startTls(name: string) {
  const folder = makeFolder();
  const { key, cert } = makeCertificate(folder, name);
  let requests = 0;
  const server = createServer({ key, cert }, (_request, response) => {
    requests += 1;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"fine":true}');
  });
  server.on('tlsClientError', () => {});
  return { port: await listen(server), certificate: fileOf(folder, name), requests: () => requests };
}

async function callOnce(options: Pick<ClientOptions, 'baseUrl' | 'proxy'>, trusted?: string) {
  const script = new URL('../support/call-once.ts', import.meta.url).pathname;
  const settings = JSON.stringify({ key: 'key', secret: 'secret', ...options });
  const env = trusted === undefined ? {} : { NODE_EXTRA_CA_CERTS: trusted };
  const { stdout } = await promisify(execFile)(process.execPath, [script, settings], { env });
  return JSON.parse(stdout);
}

test('a service with a trusted certificate is used', async () => {
  const { port, certificate } = await startTls('IP:127.0.0.1');
  const answer = await callOnce({ baseUrl: `https://127.0.0.1:${port}/v1` }, certificate);
  expect(answer).toEqual({ status: 200, body: { fine: true } });
});

test('an untrusted certificate is refused, with what to do', async () => {
  const { port, requests } = await startTls('IP:127.0.0.1');
  const facts = await callOnce({ baseUrl: `https://127.0.0.1:${port}/v1` });
  expect(facts).toMatchObject({ category: 'configuration', code: 'TLS_CERTIFICATE', retryable: false });
  expect(facts.advice).toContain('NODE_EXTRA_CA_CERTS');
  expect(requests()).toBe(0);
});

test('a certificate for another host is refused', async () => {
  const { port, certificate, requests } = await startTls('DNS:other.example');
  const facts = await callOnce({ baseUrl: `https://127.0.0.1:${port}/v1` }, certificate);
  expect(facts).toMatchObject({ category: 'configuration', code: 'TLS_CERTIFICATE' });
  expect(facts.message).toContain('another name');
  expect(requests()).toBe(0);
});

test('a proxy is used for hosts elsewhere, sees only a tunnel, and never gets requests to this machine', async () => {
  const { port, certificate, requests } = await startTls('DNS:api.example.com,IP:127.0.0.1');
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
  const far = await callOnce({ baseUrl: 'https://api.example.com/v1', ...settings }, certificate);
  expect(far).toEqual({ status: 200, body: { fine: true } });
  expect(tunnels).toEqual(['api.example.com:443']);
  await callOnce({ baseUrl: `https://127.0.0.1:${port}/v1`, ...settings }, certificate);
  expect(tunnels).toHaveLength(1);
  expect(requests()).toBe(2);
});

test('the certificate of a proxy is not that of the service', async () => {
  const [service, proxy] = [await startTls('IP:127.0.0.1'), await startTls('IP:127.0.0.1')];
  const { code, message } = await callOnce(
    {
      baseUrl: `https://127.0.0.1:${service.port}/v1`,
      proxy: { http: '', https: `https://127.0.0.1:${proxy.port}`, noProxy: '', loopback: true },
    },
    service.certificate,
  );
  expect({ code, message }).toEqual({
    code: 'PROXY_UNREACHABLE',
    message: `the proxy 127.0.0.1:${proxy.port} has a certificate that is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)`,
  });
});
