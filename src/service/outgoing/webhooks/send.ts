/** One attempt to deliver one event. Source: specification, "Events"; contract, "Webhooks". */
import { webhookHeaderNames } from '../../../protocol/headers.ts';
import { signWebhook } from '../../../protocol/webhook-signature.ts';
import type { Clock } from '../../clock.ts';
import { withDeadline } from '../deadline.ts';
import { TargetBlocked, TargetUnreachable } from '../failures.ts';
import { type Network, sendRequest } from '../request.ts';

export interface OutgoingEvent {
  readonly id: string;
  readonly url: string;
  /** JSON; these very bytes are signed and sent. */
  readonly body: string;
  /** Webhook secret of the key that made the job. */
  readonly secret: string;
}

export type Outcome =
  | { readonly type: 'delivered' }
  /** The receiver wants no more of it. */
  | { readonly type: 'gone' }
  /** `reason` is fit for a log. */
  | { readonly type: 'failed'; readonly reason: string };

export interface SendParts {
  readonly network: Network;
  readonly clock: Clock;
  readonly headerPrefix: string;
  readonly signal: AbortSignal;
}

/** From the look-up to the head of the answer. Source: specification, "Limits" (webhook response deadline). */
const ANSWER_MS = 5000;
const GONE = 410;

/** Signs an event for this moment and sends it; throws only the signal's reason and what is a fault of our own. */
export async function sendEvent(event: OutgoingEvent, parts: SendParts): Promise<Outcome> {
  const { network, clock, signal } = parts;
  const failure = new TargetUnreachable(`there was no answer within ${ANSWER_MS / 1000} s`);
  const message = { method: 'POST', headers: signedHeaders(event, parts), body: event.body } as const;
  try {
    const answer = await withDeadline({ clock, ms: ANSWER_MS, failure, signal }, (limited) =>
      sendRequest(network, event.url, message, limited),
    );
    // The status says it all, and a body could go on for ever.
    answer.destroy();
    return outcomeOf(answer.statusCode ?? 0);
  } catch (error) {
    if (error instanceof TargetBlocked || error instanceof TargetUnreachable) {
      return { type: 'failed', reason: error.message };
    }
    throw error;
  }
}

function signedHeaders(event: OutgoingEvent, { clock, headerPrefix }: SendParts): Record<string, string> {
  const names = webhookHeaderNames(headerPrefix);
  const timestamp = String(Math.floor(clock.now() / 1000));
  return {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(event.body)),
    [names.timestamp]: timestamp,
    [names.id]: event.id,
    [names.signature]: signWebhook(event.secret, { timestamp, eventId: event.id, body: event.body }),
  };
}

/** Any 2xx is success; a redirect is not followed: it could lead a signed event anywhere. */
function outcomeOf(status: number): Outcome {
  if (status >= 200 && status < 300) return { type: 'delivered' };
  if (status === GONE) return { type: 'gone' };
  return { type: 'failed', reason: `the receiver answered with status ${status}` };
}
