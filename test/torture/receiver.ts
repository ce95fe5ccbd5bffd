/** A receiver of webhooks on loopback that is not always well. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Random } from './random.ts';

interface Heard {
  readonly eventId: string;
  readonly status: string;
}

export interface Receiver {
  readonly url: string;
  /** File with the certificate that the service must trust. */
  readonly certificate: string;
  /** The events of each job that were answered with success, by job id. */
  readonly heard: ReadonlyMap<string, readonly Heard[]>;
  close(): void;
}

/** Shares of the deliveries that are refused, and that break off without an answer. */
const REFUSED = 0.03;
const BROKEN = 0.02;

/** @param folder where its key and certificate go */
export async function startReceiver(folder: string, random: Random): Promise<Receiver> {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  makeCertificate(key, certificate);
  const heard = new Map<string, Heard[]>();
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const event = JSON.parse(await text(request));
    if (random.chance(BROKEN)) return request.destroy();
    if (random.chance(REFUSED)) return response.writeHead(503).end();
    const told = heard.get(event.data.id) ?? [];
    told.push({ eventId: event.id, status: event.data.status });
    heard.set(event.data.id, told);
    return response.writeHead(204).end();
  };
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) });
  // The sender may be killed while it sends.
  server.on('request', (request, response) => void take(request, response).catch(() => request.destroy()));
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has one
  return {
    url: `https://127.0.0.1:${port}/hook`,
    certificate,
    heard,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function makeCertificate(key: string, certificate: string): void {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const name = ['-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', key, '-out', certificate];
  execFileSync('openssl', ['req', '-x509', ...curve, ...name, ...files], { stdio: 'ignore' });
}
