/** Sends raw bytes over a socket, for requests that no HTTP client would send. */
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Outgoing } from './exchange.ts';

export interface RawAnswer {
  /** Statuses of all answers on the connection, in order. */
  readonly statuses: readonly number[];
  readonly text: string;
  /** False if the service left the connection open. */
  readonly closed: boolean;
}

/** A service refuses such a request and closes its connection immediately, or a little later on a busy machine. */
const OPEN_MS = 20_000;

/** Returns the lines of a signed request, so that a test can change them. */
export function requestLines(outgoing: Outgoing, headerLines: readonly string[] = []): string[] {
  const lines = [`${outgoing.method} ${outgoing.target} HTTP/1.1`, `Host: ${new URL(outgoing.origin).host}`];
  for (const [name, value] of Object.entries(outgoing.headers)) {
    for (const each of typeof value === 'string' ? [value] : value) lines.push(`${name}: ${each}`);
  }
  return [...lines, ...headerLines];
}

/** Joins head and body of a request. */
export function joinRequest(lines: readonly string[], body = ''): string {
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** Returns the address that the service listens on. */
function addressOf(origin: string): { secure: boolean; host: string; port: number } {
  const { protocol, hostname, port } = new URL(origin);
  const secure = protocol === 'https:';
  return { secure, host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (secure ? 443 : 80)) };
}

/** Writes the bytes to the service and reads until it closes the connection, or for 20 s. */
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
      const statuses = Array.from(text.matchAll(/HTTP\/1\.[01] (\d{3})/g), ([, status]) => Number(status));
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
      // A server that disconnects in the middle of a request resets the connection. That also counts as an answer.
      if (connected) return;
      clearTimeout(timer);
      reject(error);
    });
  });
}

/** The time to send a body of some megabytes. */
const ON_ITS_WAY_MS = 60;

/**
 * Sends a head that announces a body, waits for the answer, and continues to send the body like a sender that has not
 * read the answer yet.
 * @returns the status, 0 if no answer came in 20 s, and whether the service disconnected, which makes most
 * senders lose the answer
 */
export function sendBeyondAnswer(
  origin: string,
  head: string,
): Promise<{ readonly status: number; readonly cutOff: boolean }> {
  const { secure, host, port } = addressOf(origin);
  return new Promise((resolve, reject) => {
    // Half open: the end of the answer must not end the sending side.
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

/** Sends everything before it reads, as Python's http.client does. Rejects if the service disconnects while it sends. */
export function sendThenRead(origin: string, bytes: Buffer): Promise<string> {
  const { secure, host, port } = addressOf(origin);
  return new Promise((resolve, reject) => {
    const socket = secure ? connectTls({ host, port, servername: host }) : connectTcp({ host, port });
    const chunks: Buffer[] = [];
    socket.pause();
    socket.on('error', reject);
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      socket.write(bytes, () => {
        socket.on('data', (chunk: Buffer) => chunks.push(chunk));
        socket.on('end', () => {
          socket.destroy();
          resolve(Buffer.concat(chunks).toString());
        });
        socket.resume();
      });
    });
  });
}
