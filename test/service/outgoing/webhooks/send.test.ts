import { expect, test } from 'vitest';
import { sendEvent } from '../../../../src/service/outgoing/webhooks/send.ts';
import { createMovingClock } from '../../harness/moving-clock.ts';
import { networkWith, startPlain } from '../outside.ts';

const EVENT = { id: 'evt_01arz3ndektsv4rrffq69g5fav', body: '{"a":"é"}', secret: 'secret' };
const PARTS = {
  clock: createMovingClock(),
  headerPrefix: 'X-Acme',
  signal: new AbortController().signal,
};

test('header names start with the prefix of the service', async () => {
  const outside = await startPlain((_request, response) => response.end());
  await sendEvent({ ...EVENT, url: outside.origin }, { ...PARTS, network: networkWith() });
  const { headers } = outside.requests[0] ?? {};
  expect(headers).toMatchObject({
    'x-acme-webhook-id': EVENT.id,
    'x-acme-webhook-timestamp': expect.stringMatching(/^\d{10}$/),
    'x-acme-webhook-signature': expect.stringMatching(/^[0-9a-f]{64}$/),
    'content-length': '10',
  });
});

test('an event to a name that leads into a private network is not sent, and the address is not told', async () => {
  const network = networkWith([['93.184.216.34', '10.0.0.1']], false);
  const outcome = await sendEvent({ ...EVENT, url: 'https://a.example/' }, { ...PARTS, network });
  expect(outcome).toEqual({ type: 'failed', reason: 'its name leads into a private network' });
  expect(network.dialled).toEqual([]);
});

test('a body that never ends does not hold up the delivery', async () => {
  const outside = await startPlain((_request, response) => response.write('x'));
  const outcome = await sendEvent({ ...EVENT, url: outside.origin }, { ...PARTS, network: networkWith() });
  expect(outcome).toEqual({ type: 'delivered' });
});
