/** What is done with a delivery: judged, held against what was seen before, forwarded, told. */
import type { Forwarded, Forwarder } from '../../client/webhooks/forward.ts';
import { readEvent, type WebhookEvent } from '../../client/webhooks/read-event.ts';
import { judgeWebhook, type WebhookCheck } from '../../client/webhooks/verify-webhook.ts';
import { type Caller, writeCommand } from '../../context/printed-command.ts';
import { Failure } from '../../errors/failure.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { WebhookLayout } from '../../protocol/webhook-signature.ts';
import type { Answer, Delivery } from './listener.ts';
import type { Rules } from './rules.ts';

/** A genuine event at its first delivery that was taken. */
export interface ReceivedEvent extends WebhookEvent {
  readonly id: string;
  readonly layout: WebhookLayout;
  /** Status of the receiver that it was forwarded to; null without one. */
  readonly forwardedStatus: number | null;
  /** The raw text. */
  readonly body: Buffer;
}

/** What becomes of a delivery, for people and programs. */
export type Report =
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
  readonly rules: Rules;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly forwarder: Forwarder | null;
  readonly report: (report: Report) => void;
}

/** Ids kept for finding duplicates: a day of events, one every ten seconds, in about a megabyte. */
const REMEMBERED = 10_000;

/** Makes the function that answers deliveries. Source: specification, "Events" (receiver rules). */
export function createReceiver(parts: ReceiverParts): (delivery: Delivery) => Promise<Answer> {
  const { rules, now, report } = parts;
  /** By event id; a second delivery waits for the outcome of the first. */
  const seen = new Map<string, Promise<Answer>>();
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
    // It was not taken: the next delivery is as good as the first.
    if (answer.status !== OK) seen.delete(id);
    return answer;
  };
}

const OK = 200;
const BAD_GATEWAY = 502;

function remember(seen: Map<string, Promise<Answer>>, id: string, answer: Promise<Answer>): void {
  seen.set(id, answer);
  const [oldest] = seen.keys();
  if (seen.size > REMEMBERED && oldest !== undefined) seen.delete(oldest);
}

async function take(
  { body, rawHeaders }: Delivery,
  id: string,
  layout: WebhookLayout,
  { forwarder, report }: ReceiverParts,
): Promise<Answer> {
  const forwarded: Forwarded | null = forwarder === null ? null : await forwarder.forward(body, rawHeaders);
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

/** Whether this event says that the job has ended. */
export function isEndOf(event: ReceivedEvent, jobId: string): boolean {
  const { id, status } = event.job;
  return id === jobId && status !== null && isTerminal(status);
}

/** @throws Failure (`job`) when it ended in another way than with success */
export function checkSuccess({ job }: ReceivedEvent, caller: Caller): void {
  if (job.status === 'succeeded') return;
  const jobId = job.id ?? '';
  const reference = job.kind === null ? jobId : `${job.kind}/${jobId}`;
  throw new Failure({
    category: 'job',
    code: job.status === 'cancelled' ? 'JOB_CANCELLED' : 'JOB_FAILED',
    message: job.status === 'cancelled' ? 'the job was cancelled' : 'the job failed',
    advice: `See why: \`${writeCommand(caller, ['jobs', 'get', reference])}\``,
    jobId,
  });
}
