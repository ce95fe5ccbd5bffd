/** A receiver of webhooks: stores the deliveries to each of its URLs, and answers as configured. */
import { createServer as createPlain, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { AddressInfo } from 'node:net';
import { freshToken } from './wire/caller.ts';

export interface Delivery {
  readonly method: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The answer to a delivery: a status, or no answer. */
export type Reaction = number | 'never';

/** Each rule has its own URL, so that deliveries are not mixed. */
export interface Mailbox {
  readonly url: string;
  readonly deliveries: readonly Delivery[];
}

export interface Receiver {
  /** Opens a URL. Its first deliveries get these answers, all others 204. */
  open(...reactions: readonly Reaction[]): Mailbox;
  close(): Promise<void>;
}

interface OpenMailbox extends Mailbox {
  readonly deliveries: Delivery[];
  readonly reactions: Reaction[];
}

/** Key and certificate of a server, as PEM. */
export interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
}

/**
 * Listens for deliveries.
 * @param listen `publicUrl` is the URL that services call, null: the address listened on; `certificate` null: plain
 * HTTP, behind a proxy that terminates TLS
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
      const mailbox: OpenMailbox = {
        url: `${base}/${name}`,
        deliveries: [],
        reactions: [...reactions],
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
