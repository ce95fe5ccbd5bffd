/** A receiver of webhooks: keeps what is delivered to each of its addresses, and answers as it is told. */
import { createServer as createPlain, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freshToken } from './wire/caller.ts';

export interface Delivery {
  readonly method: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** How to answer a delivery: a status, or never. */
export type Reaction = number | 'never';

/** An address of its own for every rule keeps deliveries apart. */
export interface Mailbox {
  readonly url: string;
  readonly deliveries: readonly Delivery[];
  /** Resolves when the service has hung up after what was delivered so far: it has read the answers. */
  hungUp(): Promise<void>;
}

export interface Receiver {
  /** Opens an address; its first deliveries are answered so, all others with 204. */
  open(...reactions: readonly Reaction[]): Mailbox;
  close(): Promise<void>;
}

interface OpenMailbox extends Mailbox {
  readonly deliveries: Delivery[];
  readonly reactions: Reaction[];
  readonly sockets: Set<Socket>;
}

/** A service may keep its connections for later; an answer over loopback or a good line was read long before. */
const KEPT_OPEN_MS = 1_000;

/** Key and certificate of a server, as PEM. */
export interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
}

/**
 * Listens for deliveries.
 * @param listen `publicUrl` is what services call to get here, null: the address listened on; `certificate` null: plain
 *   HTTP, behind a proxy that speaks TLS
 */
export async function startReceiver(listen: {
  host: string;
  port: number;
  publicUrl: string | null;
  certificate: Certificate | null;
}): Promise<Receiver> {
  const mailboxes = new Map<string, OpenMailbox>();
  const { certificate } = listen;
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const name = (request.url ?? '').split('/').at(-1) ?? '';
    void receive(request, response, mailboxes.get(name));
  };
  const server = certificate === null ? createPlain(answer) : createSecure(certificate, answer);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(listen.port, listen.host, resolve);
  });
  const { port } = server.address() as AddressInfo; // a TCP server has one
  const scheme = certificate === null ? 'http' : 'https';
  const base = (listen.publicUrl ?? `${scheme}://${listen.host}:${port}`).replace(/\/$/, '');
  return {
    open(...reactions) {
      const name = freshToken();
      const sockets = new Set<Socket>();
      const mailbox: OpenMailbox = {
        url: `${base}/${name}`,
        deliveries: [],
        reactions: [...reactions],
        sockets,
        async hungUp() {
          const end = Date.now() + KEPT_OPEN_MS;
          while (sockets.size > 0 && Date.now() < end) await sleep(5);
        },
      };
      mailboxes.set(name, mailbox);
      return mailbox;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  mailbox: OpenMailbox | undefined,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  if (mailbox === undefined) {
    response.writeHead(404).end();
    return;
  }
  const { socket } = request;
  mailbox.sockets.add(socket);
  socket.once('close', () => mailbox.sockets.delete(socket));
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  const reaction = mailbox.reactions.shift() ?? 204;
  mailbox.deliveries.push({
    method: request.method ?? '',
    headers: Object.fromEntries(headers),
    body: Buffer.concat(chunks),
  });
  if (reaction === 'never') return;
  response.writeHead(reaction, reaction >= 300 && reaction < 400 ? { Location: '/elsewhere' } : {}).end();
}
