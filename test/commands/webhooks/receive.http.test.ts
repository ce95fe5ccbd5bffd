import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import {
  MAX_BODY_BYTES,
  startListener,
  type WebhookDelivery,
} from '../../../src/commands/webhooks/receive.ts';
import { send } from '../support/listening.ts';

async function start(arriveMs = 5_000) {
  const deliveries: WebhookDelivery[] = [];
  const refused: string[] = [];
  const listener = await startListener({
    host: '127.0.0.1',
    port: 0,
    path: '/hook',
    arriveMs,
    receive: async (delivery) => {
      deliveries.push(delivery);
      return { status: 200, text: 'fine' };
    },
    onRefused: (reason) => refused.push(reason),
  });
  onTestFinished(() => listener.close());
  return { ...listener, deliveries, refused };
}

it('answers only POST on one path', async () => {
  const { url, deliveries } = await start();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/hook$/);
  expect((await send(`${url}?token=1`, 'x')).status).toBe(200);
  expect((await send(`${url}/more`, 'x')).status).toBe(404);
  expect((await send(url, '', {}, 'GET')).status).toBe(405);
  expect((await send(url, 'x', {}, 'PUT')).status).toBe(405);
  expect(deliveries.map(({ body }) => body.toString())).toEqual(['x']);
});

it('accepts a body of 64 KiB and not a byte more, whether its length is declared or not', async () => {
  const { url, deliveries, refused } = await start();
  expect((await send(url, Buffer.alloc(MAX_BODY_BYTES))).status).toBe(200);
  expect((await send(url, Buffer.alloc(MAX_BODY_BYTES + 1))).status).toBe(413);
  const chunked = { 'Transfer-Encoding': 'chunked' };
  expect((await send(url, Buffer.alloc(MAX_BODY_BYTES + 1), chunked)).status).toBe(413);
  expect(deliveries).toHaveLength(1);
  expect(refused).toEqual(Array(2).fill('a body of more than 64 KiB'));
});

it('does not wait for a slow sender', async () => {
  // Bytes that are not read by then reset the connection before its answer arrives: time enough for a busy machine.
  const { url, deliveries } = await start(1_000);
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write('POST /hook HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
  expect(deliveries).toEqual([]);
});

it('reports a sender that disconnects in the middle, and continues', async () => {
  const { url, refused } = await start();
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write('POST /hook HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf', () => socket.destroy());
  await expect.poll(() => refused).toEqual([expect.stringContaining('broke off')]);
  expect((await send(url, 'x')).status).toBe(200);
});
