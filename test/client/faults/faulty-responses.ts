/** Faulty responses: the response of the service, damaged on the way, or another one in its place. */
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type Exchange, endToEnd } from './exchange.ts';

/** Handles one request. If only a timeout ends the wait for the response, resolves once nothing more will be sent. */
export type FaultyResponse = (exchange: Exchange) => void | Promise<void>;

export const REQUEST_ID = 'req_fault';

type Headers = Readonly<Record<string, string>>;

function socketOf({ response }: Exchange): Socket {
  if (response.socket === null) throw new Error('the connection is gone');
  return response.socket;
}

/** A response that does not come from the service; the request never reaches it. */
export function respondWith(status: number, headers: Headers, body: string | Buffer = ''): FaultyResponse {
  return ({ response }) => {
    response.writeHead(status, {
      'content-length': Buffer.byteLength(body),
      connection: 'close',
      ...headers,
    });
    response.end(body);
  };
}

/** An error of the service, which did not execute the request. */
export function problem(
  status: number,
  code: string,
  retryable: boolean,
  headers: Headers = {},
): FaultyResponse {
  const body = { title: code, status, detail: `${code} came.`, code, request_id: REQUEST_ID, retryable };
  return respondWith(
    status,
    { 'content-type': 'application/problem+json', 'x-request-id': REQUEST_ID, ...headers },
    JSON.stringify(body),
  );
}

/** The service executes the request; its response is replaced. */
export function executeThenRespond(headers: Headers, body: string | Buffer = ''): FaultyResponse {
  const replaced = respondWith(200, { 'x-request-id': REQUEST_ID, ...headers }, body);
  return async (exchange) => {
    await exchange.forward();
    return replaced(exchange);
  };
}

/** The connection is reset without a byte; the request never reaches the service. */
export const resetBeforeResponse: FaultyResponse = (exchange) => {
  socketOf(exchange).resetAndDestroy();
};

/** The service executes the request, and the connection is reset before the first byte of the response. */
export const executeThenReset: FaultyResponse = async (exchange) => {
  await exchange.forward();
  socketOf(exchange).resetAndDestroy();
};

/** Sends half of the response, with the content length of all of it, then calls `end` with the connection. */
function half(end: (socket: Socket) => void): FaultyResponse {
  return async (exchange) => {
    const answered = await exchange.forward();
    const { body, status } = answered;
    const headers = { ...endToEnd(answered, exchange.now), 'content-length': String(body.length + 10) };
    exchange.response.writeHead(status, headers);
    const sent = body.subarray(0, body.length / 2);
    exchange.response.flushHeaders();
    exchange.response.write(sent.length === 0 ? ' ' : sent, () => end(socketOf(exchange)));
  };
}

export const resetInBody = half((socket) => socket.resetAndDestroy());
export const truncated = half((socket) => socket.end());

/** The connection stays open, and no response is sent. */
export const blackHole: FaultyResponse = () => {};

/** Bytes that are sent of a head of a thousand, one at a time. */
const TRICKLED_BYTES = 5;

export const slowLoris: FaultyResponse = async (exchange) => {
  const socket = socketOf(exchange).on('error', () => {});
  const head = `HTTP/1.1 200 OK\r\nx-padding: ${'a'.repeat(1000)}\r\n`;
  for (const byte of head.slice(0, TRICKLED_BYTES)) {
    await new Promise<void>((resolve) => socket.write(byte, () => resolve()));
  }
};

/** Redirects to another host, which must not receive any secret. */
export const redirectElsewhere: FaultyResponse = (exchange) =>
  respondWith(307, { location: `${exchange.foreignOrigin}/elsewhere` })(exchange);

const BOMB = gzipSync(Buffer.alloc(2 ** 24));

/** 16 MiB of zeros in 16 KiB. */
export const gzipBomb = executeThenRespond(
  { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  BOMB,
);
