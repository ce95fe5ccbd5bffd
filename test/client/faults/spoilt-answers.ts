/** Answers that go wrong: what the service would have said, spoilt on the way, or something else instead. */
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type Exchange, endToEnd } from './exchange.ts';

/** What is done with one request; what only time can end resolves once nothing more will come. */
export type Spoil = (exchange: Exchange) => void | Promise<void>;

export const REQUEST_ID = 'req_fault';

type Headers = Readonly<Record<string, string>>;

function socketOf({ response }: Exchange): Socket {
  if (response.socket === null) throw new Error('the connection is gone');
  return response.socket;
}

/** An answer that does not come from the service; the request never reaches it. */
export function instead(status: number, headers: Headers, body: string | Buffer = ''): Spoil {
  return ({ response }) => {
    response.writeHead(status, {
      'content-length': Buffer.byteLength(body),
      connection: 'close',
      ...headers,
    });
    response.end(body);
  };
}

/** An error of the service, which has done nothing. */
export function problem(status: number, code: string, retryable: boolean, headers: Headers = {}): Spoil {
  const body = { title: code, status, detail: `${code} came.`, code, request_id: REQUEST_ID, retryable };
  return instead(
    status,
    { 'content-type': 'application/problem+json', 'x-request-id': REQUEST_ID, ...headers },
    JSON.stringify(body),
  );
}

/** The service does its work; what it says is replaced. */
export function executed(headers: Headers, body: string | Buffer = ''): Spoil {
  const replaced = instead(200, { 'x-request-id': REQUEST_ID, ...headers }, body);
  return async (exchange) => {
    await exchange.forward();
    return replaced(exchange);
  };
}

/** The connection is reset without a byte; the request never reaches the service. */
export const resetAtOnce: Spoil = (exchange) => {
  socketOf(exchange).resetAndDestroy();
};

/** The service does its work, and the connection is reset before a byte of its answer. */
export const executedThenDropped: Spoil = async (exchange) => {
  await exchange.forward();
  socketOf(exchange).resetAndDestroy();
};

/** Half of the answer, more of it promised; then `end` is done to the connection. */
function half(end: (socket: Socket) => void): Spoil {
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

export const resetInTheMiddle = half((socket) => socket.resetAndDestroy());
export const truncated = half((socket) => socket.end());

/** The connection stays, and nothing comes. */
export const blackHole: Spoil = () => {};

/** Bytes of the answer's head that come, of a thousand, each on its own. */
const TRICKLED_BYTES = 5;

export const slowLoris: Spoil = async (exchange) => {
  const socket = socketOf(exchange).on('error', () => {});
  const head = `HTTP/1.1 200 OK\r\nx-padding: ${'a'.repeat(1000)}\r\n`;
  for (const byte of head.slice(0, TRICKLED_BYTES)) {
    await new Promise<void>((resolve) => socket.write(byte, () => resolve()));
  }
};

/** To another host, which must not learn a thing. */
export const sentElsewhere: Spoil = (exchange) =>
  instead(307, { location: `${exchange.foreignOrigin}/elsewhere` })(exchange);

const BOMB = gzipSync(Buffer.alloc(2 ** 24));

/** 16 MiB of zeros in 16 KiB. */
export const gzipBomb = executed({ 'content-type': 'application/json', 'content-encoding': 'gzip' }, BOMB);
