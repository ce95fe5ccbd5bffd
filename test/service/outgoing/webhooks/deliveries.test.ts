import { createHash, createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { createMovableClock } from '../../../../src/service/control/clock.ts';
import { sendEvent, waitAfter } from '../../../../src/service/outgoing/webhooks/deliveries.ts';
import { DUBBING, startScene, until, untilJob } from '../../harness/scene.ts';
import { networkWith, startPlain } from '../outside.ts';
import {
  createJob,
  type Delivery,
  HOUR_MS,
  OPEN,
  only,
  passUntilDelivered,
  readRows,
  startReceiver,
  untilAttempted,
} from './receiver.ts';

/** Made by hand, by nothing that the service uses. */
const signatureOf = (secret: string, { headers, body }: Delivery) => {
  const digest = createHash('sha256').update(body).digest('hex');
  const signed = `${headers['x-service-webhook-timestamp']}\n${headers['x-service-webhook-id']}\n${digest}`;
  return createHmac('sha256', secret).update(signed).digest('hex');
};

test('a job has one event, however its end is replayed, and none without a callback address', async () => {
  const receiver = await startReceiver();
  const scene = await startScene({ config: OPEN });
  scene.engines.hold();
  const job = await createJob(scene, receiver.url);
  const stop = () => scene.caller.delete(job.detail_url, 'stop');
  await Promise.all([stop(), stop(), stop()]);
  scene.engines.letGo();
  await untilJob(scene.caller, (await scene.caller.post('/v1/dubbings', DUBBING)).json, 'succeeded');
  await untilAttempted(scene, 1);
  expect(readRows(scene.stateDir)).toHaveLength(1);
  only(receiver);
});

test('a receiver that fails is tried seven times under one id, each time signed again, and then no more', async () => {
  const receiver = await startReceiver(500);
  const scene = await startScene({ config: OPEN });
  scene.clock.freeze();
  await createJob(scene, receiver.url);
  const waits = [5000, 300_000, 30 * 60_000, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS];
  for (const [at, planned] of waits.entries()) {
    const { run_after: due, status } = await untilAttempted(scene, at + 1);
    expect(status).toBe('pending');
    const wait = due - scene.clock.now();
    expect(wait).toBeGreaterThanOrEqual(planned * 0.9);
    expect(wait).toBeLessThanOrEqual(planned * 1.1);
    scene.clock.advance(wait - 1);
    expect(receiver.deliveries).toHaveLength(at + 1);
    await passUntilDelivered(scene, receiver, at + 2);
  }
  expect(await untilAttempted(scene, 7)).toMatchObject({ status: 'abandoned' });
  scene.clock.advance(20 * HOUR_MS);
  const { deliveries } = receiver;
  expect(deliveries).toHaveLength(7);
  const header = (name: string) => new Set(deliveries.map(({ headers }) => headers[name]));
  expect(header('x-service-webhook-id').size).toBe(1);
  expect(header('x-service-webhook-timestamp').size).toBe(7);
  expect(header('x-service-webhook-signature').size).toBe(7);
  expect(new Set(deliveries.map(({ body }) => body)).size).toBe(1);
  const secret = (await scene.service.keys())[0]?.webhookSecret ?? '';
  for (const delivery of deliveries) {
    expect(delivery.headers['x-service-webhook-signature']).toBe(signatureOf(secret, delivery));
  }
  const words = scene.logged.map(({ message }) => message).join('\n');
  expect(words).toContain('it was the last one');
  expect(words).not.toMatch(/token|abc|127\.0\.0\.1/);
});

test('no more events are sent concurrently than there are slots', async () => {
  const receiver = await startReceiver(0);
  const scene = await startScene({ config: { ...OPEN, webhookSlots: 2 } });
  // A delivery without an answer would end after 5 s and make room for the next.
  scene.clock.freeze();
  for (let count = 0; count < 5; count += 1) {
    await untilJob(scene.caller, await createJob(scene, receiver.url), 'succeeded');
  }
  await until(() => receiver.deliveries.length === 2);
  expect(readRows(scene.stateDir).filter(({ lease_owner: owner }) => owner !== null)).toHaveLength(2);
});

test('deliveries are removed with their job', async () => {
  const receiver = await startReceiver();
  const scene = await startScene({ config: OPEN });
  await createJob(scene, receiver.url);
  await untilAttempted(scene, 1);
  await until(
    () => {
      scene.clock.advance(24 * HOUR_MS);
      return readRows(scene.stateDir);
    },
    (rows) => rows.length === 0,
  );
});

const MINUTE_MS = 60_000;
const PLANNED = [5000, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS];

test('each wait is up to a tenth shorter or longer', () => {
  for (const [at, planned] of PLANNED.entries()) {
    expect(waitAfter(at + 1, 0)).toBe(Math.round(planned * 0.9));
    expect(waitAfter(at + 1, 1)).toBe(Math.round(planned * 1.1));
  }
});

test('the last attempt is within the 24 hours of the download addresses, whatever the random delays', () => {
  const longest = PLANNED.reduce((sum, _, at) => sum + (waitAfter(at + 1, 1) ?? 0), 0);
  expect(longest).toBeLessThan(24 * HOUR_MS);
});

const EVENT = { id: 'evt_01arz3ndektsv4rrffq69g5fav', body: '{"a":"é"}', secret: 'secret' };
const PARTS = {
  clock: createMovableClock(),
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

test('an event to a name in a private network is not sent, and the address is not revealed', async () => {
  const network = networkWith([['93.184.216.34', '10.0.0.1']], false);
  const outcome = await sendEvent({ ...EVENT, url: 'https://a.example/' }, { ...PARTS, network });
  expect(outcome).toEqual({ type: 'failed', reason: 'its name leads into a private network' });
  expect(network.dialled).toEqual([]);
});

test('an endless body does not delay the delivery', async () => {
  const outside = await startPlain((_request, response) => response.write('x'));
  const outcome = await sendEvent({ ...EVENT, url: outside.origin }, { ...PARTS, network: networkWith() });
  expect(outcome).toEqual({ type: 'delivered' });
});
