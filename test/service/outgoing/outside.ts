/** The world outside of the service, on loopback: servers that answer as a test says, and names that lead where it says. */
import { mkdtempSync } from 'node:fs';
import { createServer as createPlain, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { OutgoingNetwork } from '../../../src/service/outgoing/request.ts';
import { type Certificate, makeCertificate, trust } from '../../support/certificates.ts';

export interface Outside {
  readonly origin: string;
  readonly port: number;
  /** Heads of all requests, in order. */
  readonly requests: IncomingMessage[];
  /** Number of connections, also of those without a request. */
  connections(): number;
}

type Answerer = (request: IncomingMessage, response: ServerResponse) => void;

/** A plain server on 127.0.0.1 that ends with the test. */
export function startPlain(answer: Answerer): Promise<Outside> {
  return start(createPlain(), 'http://127.0.0.1', answer);
}

/** A server whose certificate this process trusts, for 127.0.0.1, `media.localhost` and `media.example`. */
export async function startSecure(answer: Answerer): Promise<Outside> {
  return start(createSecure(ensureCertificate()), 'https://127.0.0.1', answer);
}

let certificate: Certificate | null = null;

/** One for all tests of the process, which goes on trusting it. */
function ensureCertificate(): Certificate {
  if (certificate === null) {
    const folder = mkdtempSync(join(tmpdir(), 'vloc-outside-'));
    certificate = makeCertificate(folder, 'IP:127.0.0.1,DNS:media.localhost,DNS:media.example');
    trust(certificate);
  }
  return certificate;
}

async function start(
  server: ReturnType<typeof createPlain> | ReturnType<typeof createSecure>,
  base: string,
  answer: Answerer,
): Promise<Outside> {
  const requests: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    requests.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // a TCP server has one
  return { origin: `${base}:${port}`, port, requests, connections: () => connections };
}

/** A network in which names have these answers, one list for each look-up; the last one stays. */
export function networkWith(
  answers: readonly (readonly string[])[] = [],
  allowLoopback = true,
): OutgoingNetwork & { readonly asked: string[]; readonly dialled: string[] } {
  const left = [...answers];
  const asked: string[] = [];
  const dialled: string[] = [];
  return {
    policy: { allowLoopback },
    asked,
    dialled,
    resolver: async (name) => {
      asked.push(name);
      const answer = left.length > 1 ? left.shift() : left[0];
      if (answer === undefined)
        throw Object.assign(new Error(`no such name: ${name}`), { code: 'ENOTFOUND' });
      return answer;
    },
    dial: (address, port) => {
      dialled.push(`${address}:${port}`);
      return connect({ host: address, port });
    },
  };
}
