/** Writes an answer to the socket. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../clock.ts';
import type { Answer, FileSlice } from './answer.ts';
import type { Exchange } from './exchange.ts';

/** 1 MiB: a large result in few reads. */
const READ_BYTES = 1024 ** 2;
/** A reader that takes nothing for so long has gone, or is a player on pause that will come back with Range. */
const STALLED_MS = 5 * 60_000;
/** How long the rest of a refused body is read away, so that its sender gets to see the answer. */
const LINGER_MS = 2000;

/** Sends an answer; rejects when the caller goes away in the middle of a file. */
export async function send(exchange: Exchange, answer: Answer, clock: Clock): Promise<void> {
  const { request, response } = exchange;
  const { body } = answer;
  const headers: Record<string, string | number> = {
    // The service's own clock, by which signatures are checked, not the machine's.
    Date: new Date(clock.now()).toUTCString(),
    'Cache-Control': 'no-store',
    'X-Request-ID': exchange.id,
    ...exchange.headers,
    ...answer.headers,
  };
  if (typeof body === 'string') headers['Content-Length'] = Buffer.byteLength(body);
  else if (body !== null) headers['Content-Length'] = body.length;
  response.writeHead(answer.status, headers);
  if (!request.complete && request.method !== 'GET') linger(exchange, clock);

  if (answer.cutAfter !== undefined && body !== null) {
    await sendStart(response, body, answer.cutAfter);
  } else if (body === null || typeof body === 'string') {
    response.end(request.method === 'HEAD' ? undefined : body);
  } else if (request.method === 'HEAD' || body.length === 0) {
    await body.handle.close();
    response.end();
  } else {
    response.setTimeout(STALLED_MS, () => response.destroy());
    await pipeline(openSlice(body), response);
  }
}

/** Sends no more than the start of a body that was announced whole, and cuts the connection. */
async function sendStart(response: ServerResponse, body: string | FileSlice, bytes: number): Promise<void> {
  const start =
    typeof body === 'string'
      ? Readable.from([Buffer.from(body).subarray(0, bytes)])
      : openSlice({ ...body, length: Math.min(bytes, body.length) });
  await pipeline(start, response, { end: false });
  // Once what was written is on its way.
  response.socket?.destroySoon();
}

function openSlice({ handle, start, length }: FileSlice) {
  return handle.createReadStream({ start, end: start + length - 1, highWaterMark: READ_BYTES });
}

/** Node reads away what a handler left of a body; this ends the connection when that takes too long. */
function linger({ request, response }: Exchange, clock: Clock): void {
  response.once('finish', () => {
    if (request.complete) return;
    const cancel = clock.schedule(LINGER_MS, () => request.destroy());
    request.once('close', cancel).resume();
  });
}
