/** Sends bytes over a socket as they are, for requests that no HTTP client would write. */
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Outgoing } from './exchange.ts';

export interface RawAnswer {
  /** Status of every answer on the connection, in order. */
  readonly statuses: readonly number[];
  readonly text: string;
  /** False when the service left the connection open. */
  readonly closed: boolean;
}

/** A service refuses such a request, and closes its connection, at once; this long is waited for it. */
const OPEN_MS = 2000;

/** The bytes of a signed request, with its lines open to change. */
export function requestLines(outgoing: Outgoing, headerLines: readonly string[] = []): string[] {
  const lines = [`${outgoing.method} ${outgoing.target} HTTP/1.1`, `Host: ${new URL(outgoing.origin).host}`];
  for (const [name, value] of Object.entries(outgoing.headers)) {
    for (const each of typeof value === 'string' ? [value] : value) lines.push(`${name}: ${each}`);
  }
  return [...lines, ...headerLines];
}

/** Head and body of a request as they go over the wire. */
export function joinRequest(lines: readonly string[], body = ''): string {
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** Where the service listens. */
function addressOf(origin: string): { secure: boolean; host: string; port: number } {
  const { protocol, hostname, port } = new URL(origin);
  const secure = protocol === 'https:';
  return { secure, host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (secure ? 443 : 80)) };
}

/** Writes the bytes to the service and reads until it closes the connection, or for two seconds. */
export function sendRaw(origin: string, bytes: Buffer | string): Promise<RawAnswer> {
  const { secure, host, port } = addressOf(origin);
  return new Promise((resolve, reject) => {
    const socket = secure ? connectTls({ host, port, servername: host }) : connectTcp({ host, port });
    const chunks: Buffer[] = [];
    let connected = false;
    const finish = (closed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      const text = Buffer.concat(chunks).toString('latin1');
      const statuses = Array.from(text.matchAll(/^HTTP\/1\.[01] (\d{3})/gm), ([, status]) => Number(status));
      resolve({ statuses, text, closed });
    };
    const timer = setTimeout(() => finish(false), OPEN_MS);
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      connected = true;
      socket.write(bytes);
    });
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('close', () => finish(true));
    socket.on('error', (error) => {
      // A server that hangs up in the middle of a request resets the connection; that is an answer of a kind.
      if (connected) return;
      clearTimeout(timer);
      reject(error);
    });
  });
}

/** As long as a body of some megabytes takes to be on its way. */
const ON_ITS_WAY_MS = 60;

/**
 * Sends a head that announces a body, waits for the answer, and goes on sending the body as a sender does that has not
 * read the answer yet.
 * @returns the status, 0 when no answer came in two seconds, and whether the service cut the sender off, which makes most of them lose the answer
 */
export function sendBeyondAnswer(
  origin: string,
  head: string,
): Promise<{ readonly status: number; readonly cutOff: boolean }> {
  const { secure, host, port } = addressOf(origin);
  return new Promise((resolve, reject) => {
    // Half open: the end of the answer must not end what we send.
    const tcp = connectTcp({ host, port, allowHalfOpen: true });
    const socket = secure ? connectTls({ socket: tcp, servername: host }) : tcp;
    let status = 0;
    let writing: NodeJS.Timeout | null = null;
    const timer = setTimeout(() => finish(false), OPEN_MS);
    const finish = (cutOff: boolean) => {
      clearTimeout(timer);
      if (writing !== null) clearInterval(writing);
      socket.destroy();
      resolve({ status, cutOff });
    };
    socket.on('error', (error) => {
      clearTimeout(timer);
      if (status === 0) reject(error);
      else finish(true);
    });
    socket.on('data', (chunk: Buffer) => {
      if (status !== 0) return;
      status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(chunk.toString('latin1'))?.[1] ?? 0);
      const endAt = performance.now() + ON_ITS_WAY_MS;
      writing = setInterval(() => {
        if (performance.now() > endAt) finish(false);
        else socket.write(Buffer.alloc(1024));
      }, ON_ITS_WAY_MS / 6);
    });
    socket.write(head);
  });
}
