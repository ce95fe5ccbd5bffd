/** A service with fifteen jobs that make slow progress for as long as the bench runs and never end. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const NOW = '2026-01-01T00:00:00.000Z';
const ROUTE = '/v1/auto-localizations';
const COUNT = 15;
/** Each job advances by one percent in a different number of seconds, so that their expected ends differ. */
const SLOWEST_SECONDS = 8;

const begun = performance.now();

function jobAt(number: number) {
  const seconds = (performance.now() - begun) / 1000;
  const progress = Math.min(99, Math.floor(seconds / (1 + (number % SLOWEST_SECONDS))));
  const id = `loc_${number}`;
  const times = { created_at: NOW, updated_at: NOW, detail_url: `${ROUTE}/${id}` };
  return {
    id,
    object: 'auto_localization',
    status: 'processing',
    progress,
    client_reference: null,
    ...times,
  };
}

let requests = 0;
const server = createServer((request, response) => {
  requests += 1;
  const { pathname } = new URL(request.url ?? '/', 'http://service');
  const single = /\/loc_(\d+)$/.exec(pathname)?.[1];
  const data = Array.from({ length: COUNT }, (_, number) => jobAt(number));
  const list = { object: 'list', data, has_more: false, next_cursor: null };
  response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req_bench' });
  response.end(JSON.stringify(single === undefined ? list : jobAt(Number(single))));
});

server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port)); // it listens on TCP
process.on('message', () => process.send?.(requests));
process.on('disconnect', () => process.exit());
