/** Handles a webhook delivery: verifies it, detects duplicates, forwards and reports it. */

import { jobFailure } from '../../base/failure.ts';
import type { Forwarder, ForwardResult } from '../../client/webhooks/forward.ts';
import {
  judgeWebhook,
  readEvent,
  type WebhookCheck,
  type WebhookEvent,
} from '../../client/webhooks/verify-webhook.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { WebhookLayout } from '../../protocol/webhook-signature.ts';
import { type Caller, writeCommand } from '../context/printed-command.ts';
import type { WebhookDelivery, WebhookReply } from './listener.ts';
import type { VerificationRules } from './rules.ts';

/** A verified event, at its first accepted delivery. */
export interface ReceivedEvent extends WebhookEvent {
  readonly id: string;
  readonly layout: WebhookLayout;
  /** HTTP status of the forward target; null without forwarding. */
  readonly forwardedStatus: number | null;
  /** The raw text. */
  readonly body: Buffer;
}

/** The result of a delivery. */
export type WebhookReport =
  | { readonly type: 'event'; readonly event: ReceivedEvent }
  | { readonly type: 'duplicate'; readonly id: string }
  | { readonly type: 'refused'; readonly check: WebhookCheck; readonly message: string }
  | {
      readonly type: 'not_forwarded';
      readonly id: string;
      readonly status: number | null;
      readonly message: string;
    };

interface ReceiverParts {
  readonly rules: VerificationRules;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly forwarder: Forwarder | null;
  readonly report: (report: WebhookReport) => void;
}

/** Ids kept for finding duplicates: a day of events, one every ten seconds, in about a megabyte. */
const REMEMBERED = 10_000;

/** Makes the function that answers deliveries. Source: specification, "Events" (receiver rules). */
export function createReceiver(parts: ReceiverParts): (delivery: WebhookDelivery) => Promise<WebhookReply> {
  const { rules, now, report } = parts;
  /** By event id; a second delivery waits for the first. */
  const seen = new Map<string, Promise<WebhookReply>>();
  return async (delivery) => {
    const verdict = judgeWebhook(delivery, { ...rules, now: now() });
    if (!verdict.valid) {
      const { check, message } = verdict;
      report({ type: 'refused', check, message });
      return { status: check === 'form' ? 400 : 401, text: message };
    }
    const { eventId: id, layout } = verdict;
    const before = seen.get(id);
    if (before !== undefined) {
      const answer = await before;
      if (answer.status === OK) report({ type: 'duplicate', id });
      return answer;
    }
    const first = take(delivery, id, layout, parts);
    remember(seen, id, first);
    const answer = await first;
    // Not accepted: the next delivery is not a duplicate.
    if (answer.status !== OK) seen.delete(id);
    return answer;
  };
}

const OK = 200;
const BAD_GATEWAY = 502;

function remember(seen: Map<string, Promise<WebhookReply>>, id: string, answer: Promise<WebhookReply>): void {
  seen.set(id, answer);
  const [oldest] = seen.keys();
  if (seen.size > REMEMBERED && oldest !== undefined) seen.delete(oldest);
}

async function take(
  { body, rawHeaders }: WebhookDelivery,
  id: string,
  layout: WebhookLayout,
  { forwarder, report }: ReceiverParts,
): Promise<WebhookReply> {
  const forwarded: ForwardResult | null =
    forwarder === null ? null : await forwarder.forward(body, rawHeaders);
  if (forwarded !== null && !forwarded.ok) {
    const { status, reason } = forwarded;
    report({ type: 'not_forwarded', id, status, message: reason });
    return { status: BAD_GATEWAY, text: reason };
  }
  const event = { ...readEvent(body), id, layout, body, forwardedStatus: forwarded?.status ?? null };
  report({ type: 'event', event });
  return { status: OK, text: 'received' };
}

/** The id in a bare id, `kind/id` or `detail_url`. */
export function idOfReference(reference: string): string {
  return reference.trim().replace(/\/+$/, '').split('/').at(-1) ?? '';
}

/** True if the event reports the end of the job. */
export function isEndOf(event: ReceivedEvent, jobId: string): boolean {
  const { id, status } = event.job;
  return id === jobId && status !== null && isTerminal(status);
}

/** @throws Failure (`job`) for a job that has not succeeded */
export function checkSuccess({ job }: ReceivedEvent, caller: Caller): void {
  if (job.status === 'succeeded') return;
  const jobId = job.id ?? '';
  const reference = job.kind === null ? jobId : `${job.kind}/${jobId}`;
  throw jobFailure(
    job.status === 'cancelled' ? 'JOB_CANCELLED' : 'JOB_FAILED',
    job.status === 'cancelled' ? 'the job was cancelled' : 'the job failed',
    `See why: \`${writeCommand(caller, ['jobs', 'get', reference])}\``,
    { jobId },
  );
}
