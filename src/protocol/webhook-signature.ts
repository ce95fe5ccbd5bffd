/** Signatures of webhooks. Source: specification, "Events". */
import { createHmac } from 'node:crypto';
import { equalInConstantTime } from './constant-time.ts';
import { sha256Hex } from './signature.ts';

interface WebhookParts {
  /** Unix seconds, ten digits. */
  readonly timestamp: string;
  readonly eventId: string;
  /** The raw bytes received, never a re-serialized body. */
  readonly body: Uint8Array | string;
}

// spec: open — the byte layout is not specified. `\n` as in the canonical request; `.` as in Stripe and Standard
// Webhooks.
const WEBHOOK_SEPARATORS = { newline: '\n', dot: '.' } as const;
export type WebhookLayout = keyof typeof WEBHOOK_SEPARATORS;

/**
 * Returns the HMAC-SHA256 of timestamp, event id and the body's SHA-256 in lower-case hex, keyed with the webhook
 * secret.
 */
export function signWebhook(secret: string, parts: WebhookParts, layout: WebhookLayout = 'newline'): string {
  const lines = [parts.timestamp, parts.eventId, sha256Hex(parts.body)];
  return createHmac('sha256', secret).update(lines.join(WEBHOOK_SEPARATORS[layout])).digest('hex');
}

/** Returns the layout for which the signature is correct, or null. Comparisons take constant time. */
export function matchWebhookLayout(
  secret: string,
  parts: WebhookParts,
  signature: string,
): WebhookLayout | null {
  if (equalInConstantTime(signWebhook(secret, parts, 'newline'), signature)) return 'newline';
  if (equalInConstantTime(signWebhook(secret, parts, 'dot'), signature)) return 'dot';
  return null;
}
