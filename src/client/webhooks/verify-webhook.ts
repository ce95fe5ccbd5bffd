/** For receivers written in Node: one call between the raw request and what may be believed. */

import { Failure } from '../../errors/failure.ts';
import type { WebhookLayout } from '../../protocol/webhook-signature.ts';
import { checkWebhookRules } from './check-rules.ts';
import { judgeWebhook, type ReceivedWebhook, type WebhookRules } from './judge-webhook.ts';
import { readEvent, type WebhookEvent } from './read-event.ts';

export interface VerifiedWebhook extends WebhookEvent {
  /** The same for every delivery of this event: ignore an event that you have seen before. */
  readonly id: string;
  /** The form in which it was signed. */
  readonly layout: WebhookLayout;
}

/**
 * Verifies a delivery and reads its event. Answer any 2xx within 5 seconds, then read the result with GET; the same event
 * may come more than once, and in any order.
 *
 *     const event = verifyWebhook({ body: rawBytes, headers: request.headers }, { secret });
 *
 * @param received the raw body, before any JSON parser, with the headers as the server gives them
 * @param rules `secret` is the webhook secret; `now` is the clock of this machine unless given
 * @throws Failure: `WEBHOOK_FORM_INVALID`, `WEBHOOK_SIGNATURE_INVALID` or `WEBHOOK_TIMESTAMP_INVALID` for a delivery that
 * must not be believed (answer 400), and of category `configuration` for rules that cannot be used
 */
export function verifyWebhook(
  received: ReceivedWebhook,
  rules: Omit<WebhookRules, 'now'> & { readonly now?: number },
): VerifiedWebhook {
  const checked = { ...rules, now: rules.now ?? Date.now() };
  checkWebhookRules(checked);
  const verdict = judgeWebhook(received, checked);
  if (!verdict.valid) {
    const { check, message } = verdict;
    throw new Failure({ category: 'refused', code: `WEBHOOK_${check.toUpperCase()}_INVALID`, message });
  }
  return { id: verdict.eventId, layout: verdict.layout, ...readEvent(received.body) };
}
