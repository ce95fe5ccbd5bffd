/** Ends a transfer that has stalled. Node's own limit covers the whole body, so it would end slow honest ones too. */
import type { IncomingMessage } from 'node:http';
import { type Cancel, type Clock, repeat } from '../clock.ts';

/** Long enough for a phone that changes cells. */
const WINDOW_MS = 60_000;
/** 1 KiB/s: below it, 1 GiB would take twelve days, and the address lives an hour. */
const MIN_BYTES_PER_WINDOW = 60 * 1024;

/** Looks at every window of 60 s and destroys the request when less than 60 KiB came in it. */
export function watchFlow(request: IncomingMessage, clock: Clock): Cancel {
  const { socket } = request;
  // What came with the head of the request counts for the first window.
  let before = socket.bytesRead - request.readableLength;
  return repeat(clock, WINDOW_MS, () => {
    if (socket.bytesRead - before < MIN_BYTES_PER_WINDOW) request.destroy(new Error('the transfer stalled'));
    before = socket.bytesRead;
  });
}
