/** Deliveries of webhooks: which answers count as success, and which deliveries are retried. */
import assert from 'node:assert/strict';
import {
  createTold,
  openMailbox,
  secretOf,
  signatureFor,
  untilDelivered,
  untilRecorded,
  webhookHeader,
} from '../prepare/events.ts';
import { create } from '../prepare/jobs.ts';
import { type Rule, section } from '../rule.ts';
import { adminOf } from '../service.ts';
import type { Reaction } from '../webhooks.ts';

const rule = section('deliveries');

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** A first answer that is a failed delivery: the event is sent again with the same id and a new signature. */
function retryRule(strictness: Rule['strictness'], name: string, reaction: Reaction, title: string): Rule {
  return rule(strictness, name, {
    title,
    covers: ['event.retried', 'event.success', 'limit.webhook-deadline'],
    needs: ['jobs', 'webhooks', 'clock'],
    async check(original) {
      const service = await adminOf(original).open({ loopback: true });
      const mailbox = openMailbox(service, reaction);
      await createTold(service, mailbox);
      const first = await untilDelivered(service, mailbox);
      if (reaction !== 'never') await untilRecorded(service);
      const second = await untilDelivered(service, mailbox, 2, () => adminOf(service).advance(SECOND_MS));
      assert.equal(webhookHeader(second, 'id'), webhookHeader(first, 'id'));
      assert.deepEqual(second.body, first.body);
      assert.notEqual(webhookHeader(second, 'timestamp'), webhookHeader(first, 'timestamp'));
      assert.equal(webhookHeader(second, 'signature'), signatureFor(secretOf(service), second));
    },
  });
}

/** A first answer after which the event is not sent again. */
function lastRule(name: string, reaction: Reaction, title: string): Rule {
  return rule('contract', name, {
    title,
    covers: ['event.success'],
    needs: ['jobs', 'webhooks', 'clock'],
    async check(original) {
      const service = await adminOf(original).open({ loopback: true });
      const mailbox = openMailbox(service, reaction);
      await createTold(service, mailbox);
      await untilDelivered(service, mailbox);
      await untilRecorded(service);
      // The delivery of another event one hour later shows that nothing else was due.
      await adminOf(service).advance(60 * MINUTE_MS);
      const later = openMailbox(service);
      await createTold(service, later);
      await untilDelivered(service, later, 1, () => adminOf(service).advance(SECOND_MS));
      assert.equal(mailbox.deliveries.length, 1);
    },
  });
}

export const DELIVERY_RULES: readonly Rule[] = [
  retryRule(
    'spec',
    'retried-400',
    400,
    'a webhook answered with 400 is sent again, with the same id and a new signature',
  ),
  retryRule(
    'contract',
    'retried-redirect',
    302,
    'a webhook answered with a redirect is sent again, not followed',
  ),
  retryRule('spec', 'retried-silence', 'never', 'a webhook that is not answered within 5 s is sent again'),
  lastRule('any-2xx', 299, 'a webhook answered with any 2xx is not sent again'),
  lastRule('gone', 410, 'a webhook answered with 410 is not sent again'),
  rule('contract', 'waits', {
    title: 'the second attempt starts after about 5 s, the third after about 5 min',
    covers: ['event.schedule', 'event.retried'],
    needs: ['jobs', 'webhooks', 'clock'],
    async check(original) {
      const service = await adminOf(original).open({ loopback: true });
      const { freeze, advance } = adminOf(service);
      const mailbox = openMailbox(service, 500, 500);
      // The timestamps then say how long the service waits, however long this machine takes.
      let now = await freeze();
      await create(service, 'subtitle_translation', { extra: { callback_url: mailbox.url } });
      let due: number | undefined;
      for (const count of [1, 2]) {
        await untilDelivered(service, mailbox, count);
        due = (await untilRecorded(service, due)) ?? now;
        // Nodes of one service may differ by less than a second.
        await advance(due + SECOND_MS - now);
        now = due + SECOND_MS;
      }
      await untilDelivered(service, mailbox, 3);
      const [first = 0, second = 0, third = 0] = mailbox.deliveries.map((each) =>
        Number(webhookHeader(each, 'timestamp')),
      );
      assert.ok(second - first >= 4 && second - first <= 8, `the second came after ${second - first} s`);
      assert.ok(third - second >= 269 && third - second <= 335, `the third came after ${third - second} s`);
    },
  }),
];
