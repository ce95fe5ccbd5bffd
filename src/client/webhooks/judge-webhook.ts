/**
 * Whether a delivery is genuine, and if not, which check failed. Pure: the clock is handed in.
 * Source: specification, "Events" (receiver rules); contract, "Webhooks".
 */
import { WEBHOOK_ID_PATTERN, WEBHOOK_TIMESTAMP_PATTERN, webhookHeaderNames } from '../../protocol/headers.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { matchWebhookLayout, type WebhookLayout } from '../../protocol/webhook-signature.ts';
import { valuesOf, type WebhookHeaders } from './webhook-headers.ts';

export interface ReceivedWebhook {
  /** The raw bytes received, never a body that was parsed and serialized again. */
  readonly body: Uint8Array | string;
  readonly headers: WebhookHeaders;
}

export interface WebhookRules {
  /** The webhook secret, which is not the API secret. */
  readonly secret: string;
  /** Vendor's part of the header names, default `X-Service`. */
  readonly headerPrefix?: string | undefined;
  /** How far the timestamp may lie from now, either way; default 300. 0 means the very second. */
  readonly toleranceSeconds?: number | undefined;
  /** The only layout that is accepted; without it both are tried. */
  readonly layout?: WebhookLayout | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What was looked at, in this order; the first that fails decides. */
export type WebhookCheck = 'form' | 'signature' | 'timestamp';

export type WebhookVerdict =
  | {
      readonly valid: true;
      readonly eventId: string;
      /** Under which the signature is right. */
      readonly layout: WebhookLayout;
      /** Seconds since it was signed; negative when the sender's clock is ahead. */
      readonly ageSeconds: number;
    }
  | {
      readonly valid: false;
      readonly check: WebhookCheck;
      /** One sentence without the final stop; quotes nothing of the signature. */
      readonly message: string;
    };

/** Receiver tolerance, both ways. Source: contract, "Webhooks". */
export const WEBHOOK_TOLERANCE_SECONDS = LIMITS.timestampSkewSeconds;

/** Judges one delivery; the rules must have been checked with `checkWebhookRules`. */
export function judgeWebhook({ body, headers }: ReceivedWebhook, rules: WebhookRules): WebhookVerdict {
  const names = webhookHeaderNames(rules.headerPrefix);
  const timestamp = readHeader(headers, names.timestamp, WEBHOOK_TIMESTAMP_PATTERN, 'not ten digits');
  const eventId = readHeader(headers, names.id, WEBHOOK_ID_PATTERN, 'not an event id (evt_…)');
  const signature = readHeader(headers, names.signature, SIGNATURE_PATTERN, signatureFault);
  if (!timestamp.ok) return { valid: false, check: 'form', message: timestamp.message };
  if (!eventId.ok) return { valid: false, check: 'form', message: eventId.message };
  if (!signature.ok) return { valid: false, check: 'form', message: signature.message };
  const parts = { timestamp: timestamp.value, eventId: eventId.value, body };
  const layout = matchWebhookLayout(rules.secret, parts, signature.value);
  const allowed = layout !== null && (rules.layout === undefined || rules.layout === layout);
  if (!allowed) return { valid: false, check: 'signature', message: signatureMessage(layout, rules.layout) };
  const ageSeconds = Math.floor(rules.now / 1000) - Number(timestamp.value);
  const tolerance = rules.toleranceSeconds ?? WEBHOOK_TOLERANCE_SECONDS;
  if (Math.abs(ageSeconds) > tolerance) {
    return { valid: false, check: 'timestamp', message: timestampMessage(ageSeconds, tolerance) };
  }
  return { valid: true, eventId: eventId.value, layout, ageSeconds };
}

const SIGNATURE_PATTERN = /^[0-9a-f]{64}$/;

type HeaderRead =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly message: string };

function readHeader(
  headers: WebhookHeaders,
  name: string,
  pattern: RegExp,
  fault: string | ((value: string) => string),
): HeaderRead {
  const [value, ...more] = valuesOf(headers, name);
  if (value === undefined) return { ok: false, message: `the header ${name} is missing` };
  // Node and Fetch join repeated headers with a comma, which none of the three values can hold.
  if (more.length > 0 || value.includes(',')) {
    return { ok: false, message: `the header ${name} is there more than once` };
  }
  if (pattern.test(value)) return { ok: true, value };
  return { ok: false, message: `the header ${name} is ${typeof fault === 'string' ? fault : fault(value)}` };
}

function signatureFault(value: string): string {
  if (/^[0-9a-fA-F]{64}$/.test(value))
    return 'in upper case; a signature is 64 lower-case hexadecimal digits';
  if (/^[0-9a-fA-F]+$/.test(value)) return `${value.length} hexadecimal digits long, not 64`;
  return 'not 64 lower-case hexadecimal digits';
}

function signatureMessage(matched: WebhookLayout | null, pinned: WebhookLayout | undefined): string {
  if (matched !== null)
    return `the signature is right in the ${matched} form, but only ${pinned} is accepted`;
  const tried = pinned === undefined ? 'neither form (newline, dot)' : `not the ${pinned} form`;
  return `the signature fits ${tried}: another secret, or a body that was changed on the way`;
}

function timestampMessage(ageSeconds: number, tolerance: number): string {
  const over = Math.abs(ageSeconds) - tolerance;
  return ageSeconds > 0
    ? `the timestamp is ${ageSeconds} s old, ${over} s too old (${tolerance} s are tolerated)`
    : `the timestamp is ${-ageSeconds} s ahead of this clock, ${over} s too new (${tolerance} s are tolerated)`;
}
