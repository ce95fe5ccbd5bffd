/**
 * A hosted-like service that stands until it is stopped, for runs by hand and from other processes:
 * `node test/hosted/standing.ts minimal --job-ms 3000`. Prints what to export. `GET /books` shows jobs, payments and digests;
 * `POST /expire-links`, `/hold` and `/let-go` do what they say.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { readBooks } from './books.ts';
import { startHosted } from './service.ts';
import { VARIANTS } from './variants.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    port: { type: 'string', default: '0' },
    'job-ms': { type: 'string', default: '3000' },
    'link-ms': { type: 'string', default: String(24 * 60 * 60_000) },
    credits: { type: 'string', default: '100000' },
  },
});
const name = Object.keys(VARIANTS).find((each) => each === (positionals[0] ?? 'minimal'));
if (name === undefined) throw new Error(`one of ${Object.keys(VARIANTS).join(', ')}`);
// One of the names of the table: just looked up in it.
const hosted = await startHosted(VARIANTS[name as keyof typeof VARIANTS], new Set(), {
  port: Number(values.port),
  jobMs: () => Number(values['job-ms']),
  linkMs: Number(values['link-ms']),
  credits: Number(values.credits),
});
const controls: Readonly<Record<string, () => void>> = {
  '/expire-links': () => hosted.expireLinks(),
  '/hold': () => {
    hosted.isHeld = true;
  },
  '/let-go': () => {
    hosted.isHeld = false;
  },
};
const control = createServer((request, response) => {
  controls[request.url ?? '']?.();
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(readBooks(hosted), null, 2));
});
control.listen(0, '127.0.0.1', () => {
  const { port } = control.address() as AddressInfo; // a TCP server has one
  const { key, secret, prefix } = hosted.account;
  const lines = [
    `export VLOC_BASE_URL=${hosted.baseUrl} VLOC_KEY=${key} VLOC_SECRET=${secret} VLOC_HEADER_PREFIX=${prefix}`,
    `# books: http://127.0.0.1:${port}/books`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
});
