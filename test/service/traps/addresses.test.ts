/** Addresses that lead inside, handed to a service that is traced: it connects to none of them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../harness/scene.ts';
import corpus from '../outgoing/ssrf-corpus.json' with { type: 'json' };
import { CAN_TRACE, dialled, HOW, startTraced, type TracedService } from './traced-service.ts';

const PATIENCE_MS = 170_000;

/** Each address of the corpus as a URL, and each URL unchanged. */
const FORBIDDEN = [
  ...corpus.deny_ip.map((address) => `https://${address.includes(':') ? `[${address}]` : address}/a.mp4`),
  ...corpus.deny_url,
];
/** Where a source that is permitted sends the service on to; by the path that is asked for. */
const REDIRECTS: Record<string, string> = {
  '/private': 'https://10.0.0.1/secret',
  '/metadata': 'http://169.254.169.254/latest/',
  '/mapped': 'https://[::ffff:10.0.0.1]/',
  '/plain': 'http://example.com/a.mp4',
  '/port': 'https://example.com:8443/a.mp4',
  '/login': 'https://user:pw@example.com/a.mp4',
  '/file': 'file:///etc/passwd',
  '/inside': 'https://x.internal/a.mp4',
  '/around': '/around',
};

let service: TracedService;
let origin: string;
const asked: string[] = [];
const outside = createServer((request: IncomingMessage, response: ServerResponse) => {
  asked.push(request.url ?? '');
  response.writeHead(302, { Location: REDIRECTS[request.url ?? ''] ?? '/' }).end();
});

beforeAll(async () => {
  service = await startTraced();
  await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
  const { port } = outside.address() as AddressInfo; // a TCP server has one
  origin = `http://127.0.0.1:${port}`;
}, PATIENCE_MS);
afterAll(async () => {
  outside.close();
  await service.remove();
});

test(`the service connects to no address of the corpus, named or redirected to (${HOW})`, {
  timeout: PATIENCE_MS,
}, async () => {
  const { closed, loopback } = service;
  expect(FORBIDDEN).toHaveLength(52 + 23);
  const lines = [{ index: 1, start_ms: 0, end_ms: 1000, text: 'hello' }];
  const translation = { subtitle: { type: 'lines', lines }, source_language: 'en', target_language: 'es' };
  const asks = [
    (url: string) => closed.caller.post('/v1/audio-separations', { source: { type: 'url', url } }),
    (url: string) =>
      closed.caller.post('/v1/dubbings', { subtitle: { type: 'url', url }, target_language: 'es' }),
    (url: string) => closed.caller.post('/v1/subtitle-translations', { ...translation, callback_url: url }),
  ];
  for (const [at, url] of FORBIDDEN.entries()) {
    const reply = await asks[at % asks.length]?.(url);
    // 400 if it is not an https address, 422 if it leads inside.
    expect([400, 422], url).toContain(reply?.status);
  }

  for (const path of Object.keys(REDIRECTS)) {
    const source = { type: 'url', url: origin + path };
    const job = await loopback.caller.post('/v1/audio-separations', { source });
    expect(job.status, path).toBe(202);
    const ended = await until(
      () => loopback.caller.get(job.json.detail_url),
      ({ json }) => json.status === 'failed',
      20_000,
    );
    expect(ended.json.error.code, path).toBe(path === '/around' ? 'SOURCE_UNREACHABLE' : 'SOURCE_BLOCKED');
  }

  const addresses = dialled(await service.finish());
  const { host } = new URL(origin);
  expect(addresses.filter((address) => address !== host)).toEqual([]);
  expect(asked).toEqual(expect.arrayContaining(Object.keys(REDIRECTS)));
  // The permitted source was seen to be called once for each request that it had: nothing else was missed.
  expect(addresses).toHaveLength(CAN_TRACE ? asked.length : 0);
});
