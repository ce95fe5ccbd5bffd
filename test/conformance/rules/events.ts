/** Webhooks: the notification at the end of a job. */
import assert from 'node:assert/strict';
import { expectMembers, expectStatus } from '../expect/answer.ts';
import {
  createTold,
  openMailbox,
  reachablePlace,
  secretOf,
  signatureFor,
  untilDelivered,
  webhookHeader,
} from '../prepare/events.ts';
import { finish, untilJob } from '../prepare/jobs.ts';
import { type Need, type Rule, section } from '../rule.ts';
import type { SentenceId } from '../sentences.ts';
import { adminOf, shared } from '../service.ts';
import type { Delivery } from '../webhooks.ts';
import { instantAt, textAt, valueAt } from '../wire/json.ts';

const rule = section('events');

/** The webhook of a job that succeeded, created once for all rules. */
const succeeded = shared(async (original) => {
  const service = await reachablePlace(original);
  const mailbox = openMailbox(service);
  const job = await createTold(service, mailbox);
  return { service, job, delivery: await untilDelivered(service, mailbox) };
});

const bodyOf = (delivery: Delivery): unknown => JSON.parse(delivery.body.toString('utf8'));

/** Creates a rule that checks the webhook of the job that succeeded. */
function deliveryRule(
  strictness: Rule['strictness'],
  name: string,
  title: string,
  covers: readonly SentenceId[],
  look: (found: Awaited<ReturnType<typeof succeeded>>) => void,
): Rule {
  const needs: readonly Need[] = ['jobs', 'webhooks'];
  return rule(strictness, name, {
    title,
    covers,
    needs,
    check: async (service) => look(await succeeded(service)),
  });
}

export const EVENT_RULES: readonly Rule[] = [
  deliveryRule(
    'spec',
    'succeeded',
    'a job that succeeds is reported with a POST of JSON, with a timestamp, an event id and a signature',
    [
      'event.terminal',
      'job.optional-fields',
      'transition.succeeded',
      'event.json',
      'event.timestamp',
      'event.id',
      'event.signature',
    ],
    ({ delivery, service }) => {
      assert.equal(delivery.method, 'POST');
      assert.match(delivery.headers['content-type'] ?? '', /^application\/json\b/);
      assert.equal(typeof bodyOf(delivery), 'object');
      const timestamp = webhookHeader(delivery, 'timestamp');
      assert.match(timestamp, /^[0-9]{10}$/);
      assert.ok(Math.abs(Number(timestamp) - service.now() / 1000) < 300, timestamp);
      assert.match(webhookHeader(delivery, 'id'), /^evt_[A-Za-z0-9_-]{16,80}$/);
      assert.match(webhookHeader(delivery, 'signature'), /^[0-9a-f]{64}$/);
    },
  ),
  deliveryRule(
    'spec',
    'signature-input',
    'the signature covers timestamp, id and body, keyed with the webhook secret and not with the API secret',
    ['event.signature-input', 'auth.webhook-secret'],
    ({ delivery, service }) => {
      const signature = webhookHeader(delivery, 'signature');
      const layouts = ['\n', '.'];
      const matches = (secret: string) =>
        layouts.some((each) => signatureFor(secret, delivery, each) === signature);
      assert.ok(matches(secretOf(service)), 'keyed with the webhook secret');
      assert.ok(!matches(service.caller.credentials.secret), 'not keyed with the API secret');
    },
  ),
  deliveryRule(
    'contract',
    'layout',
    'the three signed components are joined with a line feed',
    ['auth.webhook-layout'],
    ({ delivery, service }) =>
      assert.equal(webhookHeader(delivery, 'signature'), signatureFor(secretOf(service), delivery)),
  ),
  deliveryRule(
    'contract',
    'body',
    'the body names the event and sums up the job',
    ['event.body'],
    ({ delivery, service, job }) => {
      const body = bodyOf(delivery);
      expectMembers(body, ['id', 'object', 'type', 'created_at', 'data'], 'the event');
      assert.equal(textAt(body, 'id'), webhookHeader(delivery, 'id'));
      assert.equal(textAt(body, 'object'), 'event');
      assert.equal(textAt(body, 'type'), 'subtitle_translation.succeeded');
      assert.ok(instantAt(body, 'created_at') <= service.now(), 'it was made in the past');
      assert.deepEqual(valueAt(body, 'data'), {
        id: job.id,
        object: 'subtitle_translation',
        status: 'succeeded',
        client_reference: 'told',
        detail_url: service.basePath + job.path,
      });
    },
  ),
  rule('spec', 'result-ready', {
    title: 'the job has its result by the time its webhook arrives',
    covers: ['event.terminal', 'service.result-by-get'],
    needs: ['jobs', 'webhooks'],
    async check(original) {
      const { service, job, delivery } = await succeeded(original);
      const read = await service.caller.get(job.path);
      assert.equal(textAt(read.json, 'status'), 'succeeded');
      if (service.strict)
        assert.equal(textAt(bodyOf(delivery), 'created_at'), textAt(read.json, 'finished_at'));
      assert.notEqual(valueAt(read.json, 'result'), null);
    },
  }),
  rule('spec', 'cancelled', {
    title: 'a cancelled job is reported by a webhook',
    covers: ['event.terminal', 'transition.cancelled'],
    needs: ['jobs', 'webhooks', 'engines'],
    async check(original) {
      const service = await adminOf(original).open({ loopback: true });
      await adminOf(service).holdWork();
      const mailbox = openMailbox(service);
      const job = await createTold(service, mailbox, 'dubbing');
      await untilJob(service, job, ['processing']);
      assert.equal(mailbox.deliveries.length, 0, 'nothing before the end');
      expectStatus(await service.caller.remove(job.path), 202);
      const body = bodyOf(await untilDelivered(service, mailbox));
      if (service.strict) assert.equal(textAt(body, 'type'), 'dubbing.cancelled');
    },
  }),
  rule('spec', 'failed', {
    title: 'a failed job is reported by a webhook',
    covers: ['event.terminal', 'transition.failed'],
    needs: ['jobs', 'webhooks', 'engines'],
    async check(original) {
      const service = await adminOf(original).open({ loopback: true });
      await adminOf(service).failWork('final');
      const mailbox = openMailbox(service);
      await createTold(service, mailbox);
      const body = bodyOf(await untilDelivered(service, mailbox));
      if (service.strict) assert.equal(textAt(body, 'type'), 'subtitle_translation.failed');
    },
  }),
  rule('spec', 'only-asked', {
    title: 'a job without callback_url sends no webhook',
    covers: ['event.terminal'],
    needs: ['jobs', 'webhooks'],
    async check(original) {
      const service = await reachablePlace(original);
      const mailbox = openMailbox(service);
      const silent = await finish(service, 'subtitle_translation');
      const told = await createTold(service, mailbox);
      const delivery = await untilDelivered(service, mailbox);
      assert.ok(delivery.body.toString().includes(told.id), 'the other job is reported');
      const bodies = mailbox.deliveries.map(({ body }) => body.toString());
      assert.ok(!bodies.some((body) => body.includes(silent.id)), 'this one is not');
    },
  }),
];
