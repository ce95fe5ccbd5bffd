import { expect, it } from 'vitest';
import type { ForwardResult } from '../../../src/client/webhooks/forward.ts';
import { createReceiver, type WebhookReport } from '../../../src/commands/webhooks/receive.ts';
import { eventBody, sign } from '../../client/webhooks/sign.ts';
import { AT, SECRET } from '../support/listening.ts';

/** A receiver whose forwarding ends when the test says so. */
function createScene() {
  const reports: WebhookReport[] = [];
  const waiting: ((outcome: ForwardResult) => void)[] = [];
  const receive = createReceiver({
    rules: { secret: SECRET },
    now: () => AT * 1000,
    forwarder: {
      forward: () => new Promise<ForwardResult>((resolve) => waiting.push(resolve)),
      close: async () => {},
    },
    report: (report) => reports.push(report),
  });
  const { body, headers } = sign(eventBody('dub_1'), { secret: SECRET, at: AT });
  const pairs = Object.entries(headers).map(([name, value]): [string, string[]] => [name, [value]]);
  const deliver = () => receive({ body, headers: Object.fromEntries(pairs), rawHeaders: [] });
  return { reports, waiting, deliver };
}

it('an event that arrives twice at the same time is forwarded once', async () => {
  const { reports, waiting, deliver } = createScene();
  const answers = [deliver(), deliver()];
  expect(waiting).toHaveLength(1);
  waiting[0]?.({ ok: true, status: 200 });
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
  expect(reports.map(({ type }) => type)).toEqual(['event', 'duplicate']);
});

it('neither event is a duplicate if the first was not accepted', async () => {
  const { reports, waiting, deliver } = createScene();
  const answers = [deliver(), deliver()];
  waiting[0]?.({ ok: false, status: 500, reason: 'it broke' });
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([502, 502]);
  const later = deliver();
  waiting[1]?.({ ok: true, status: 204 });
  expect(await later).toMatchObject({ status: 200 });
  expect(reports.map(({ type }) => type)).toEqual(['not_forwarded', 'event']);
});
