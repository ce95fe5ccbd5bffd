/**
 * Verifies a webhook delivery, and names the check that failed: pure.
 * Source: specification, "Events" (receiver rules); contract, "Webhooks".
 */

import { types } from 'node:util';
import { configurationFailure, type Failure, refusedFailure } from '../../base/failure.ts';
import { WEBHOOK_ID_PATTERN, WEBHOOK_TIMESTAMP_PATTERN, webhookHeaderNames } from '../../protocol/headers.ts';
import { JOB_KIND_NAMES, type JobKind } from '../../protocol/kind-names.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { JOB_STATUSES, type JobStatus } from '../../protocol/states.ts';
import { matchWebhookLayout, type WebhookLayout } from '../../protocol/webhook-signature.ts';
import { asObject, asText, type JsonObject, readMember } from '../read/record.ts';

export interface ReceivedWebhook {
  /** The raw bytes received, never a body that was parsed and serialized again. */
  readonly body: Uint8Array | ArrayBuffer | string;
  readonly headers: WebhookHeaders;
}

/** A delivery whose body is known to be raw. */
export type RawWebhook = ReceivedWebhook & { readonly body: Uint8Array | string };

export interface WebhookRules {
  /** The webhook secret, which is not the API secret. */
  readonly secret: string;
  /** Vendor's part of the header names, default `X-Service`. */
  readonly headerPrefix?: string | undefined;
  /** Allowed difference between the timestamp and now, either way; default 300. 0 means the same second. */
  readonly toleranceSeconds?: number | undefined;
  /** The only layout that is accepted; without it both are tried. */
  readonly layout?: WebhookLayout | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The checks in their order; the first that fails decides. */
export type WebhookCheck = 'form' | 'signature' | 'timestamp';

export type WebhookCheckResult =
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
const WEBHOOK_TOLERANCE_SECONDS = LIMITS.timestampSkewSeconds;

/** Judges one delivery; the rules must have been checked with `checkWebhookRules`. */
export function judgeWebhook({ body, headers }: RawWebhook, rules: WebhookRules): WebhookCheckResult {
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
  if (value === undefined) return { ok: false, message: `header ${name} is missing` };
  // Node and Fetch join repeated headers with a comma, which is invalid in all three values.
  if (more.length > 0 || value.includes(',')) {
    return { ok: false, message: `header ${name} appears more than once` };
  }
  if (pattern.test(value)) return { ok: true, value };
  return { ok: false, message: `header ${name} is ${typeof fault === 'string' ? fault : fault(value)}` };
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
  return `the signature matches ${tried}: another secret, or a body that was changed on the way`;
}

function timestampMessage(ageSeconds: number, tolerance: number): string {
  const over = Math.abs(ageSeconds) - tolerance;
  return ageSeconds > 0
    ? `the timestamp is ${ageSeconds} s old, ${over} s too old (${tolerance} s are tolerated)`
    : `the timestamp is ${-ageSeconds} s ahead of this clock, ${over} s too new (${tolerance} s are tolerated)`;
}

/** Headers of `node:http` (`headers` or `headersDistinct`), of a Fetch `Request`, or any pairs of name and value. */
export type WebhookHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | Iterable<readonly [string, string]>;

/** All values of one header; names count without their case, so two spellings are a repeated header. */
function valuesOf(headers: WebhookHeaders, name: string): readonly string[] {
  const pairs = isIterable(headers) ? [...headers] : Object.entries(headers);
  return pairs.flatMap(([each, value]) => (each.toLowerCase() === name ? [value].flat().filter(isText) : []));
}

/** Gateways pass null for a header that is missing. */
function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isIterable(headers: WebhookHeaders): headers is Iterable<readonly [string, string]> {
  return Symbol.iterator in headers;
}

/**
 * Refuses rules under which deliveries could be forged, or all would be refused.
 * @throws Failure (`configuration`)
 */
export function checkWebhookRules({ secret, toleranceSeconds = 0, now }: WebhookRules): void {
  if (!secret) {
    throw webhookRejectedFailure(
      'WEBHOOK_SECRET_MISSING',
      'no webhook secret is set',
      'Set VLOC_WEBHOOK_SECRET.',
    );
  }
  if (/[\r\n]/.test(secret)) {
    throw webhookRejectedFailure(
      'WEBHOOK_SECRET_INVALID',
      'the webhook secret contains a line break',
      'Give the secret alone: `printf %s` writes it without a line break, `echo` adds one.',
    );
  }
  // NaN would pass every comparison, and with it every replay.
  if (!Number.isFinite(toleranceSeconds) || toleranceSeconds < 0 || !Number.isFinite(now)) {
    throw webhookRejectedFailure(
      'WEBHOOK_TOLERANCE_INVALID',
      'the tolerance and the time must be numbers, and the tolerance not negative',
      'Leave the tolerance out for 300 seconds.',
    );
  }
}

/**
 * The bytes that were signed.
 * @throws Failure (`configuration`) for anything else, most often the object that a JSON parser has made of them
 */
function rawBody(body: ReceivedWebhook['body']): Uint8Array | string {
  if (typeof body === 'string') return body;
  // Unlike `instanceof`, these also know objects of another realm, such as a test runner's.
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (types.isAnyArrayBuffer(body)) return new Uint8Array(body);
  throw webhookRejectedFailure(
    'WEBHOOK_BODY_NOT_RAW',
    `the webhook body is ${body === null ? 'null' : `of type ${typeof body}`}, and its signature is that of the bytes received`,
    "Pass the raw body, before any JSON parser: with Express `express.raw({ type: 'application/json' })`, with Fetch `await request.arrayBuffer()`.",
  );
}

function requireHeaders(headers: unknown): void {
  if (typeof headers === 'object' && headers !== null) return;
  throw webhookRejectedFailure(
    'WEBHOOK_HEADERS_MISSING',
    `the webhook headers are ${headers === null ? 'null' : `of type ${typeof headers}`}, and the signature is one of them`,
    'Pass the headers as received, with Node and with Fetch `request.headers`.',
  );
}

function webhookRejectedFailure(code: string, message: string, advice: string): Failure {
  return configurationFailure(code, message, advice);
}

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
 * @param received the raw body, before any JSON parser, with the headers as received
 * @param rules `secret` is the webhook secret; `now` is the clock of this machine unless given
 * @throws Failure: `WEBHOOK_FORM_INVALID`, `WEBHOOK_SIGNATURE_INVALID` or `WEBHOOK_TIMESTAMP_INVALID` for a delivery that
 * must not be believed (answer 400), and of category `configuration` for rules that cannot be used, for a body that is not raw, and without headers
 */
export function verifyWebhook(
  received: ReceivedWebhook,
  rules: Omit<WebhookRules, 'now'> & { readonly now?: number | undefined },
): VerifiedWebhook {
  const checked = { ...rules, now: rules.now ?? Date.now() };
  checkWebhookRules(checked);
  const body = rawBody(received.body);
  requireHeaders(received.headers);
  const verdict = judgeWebhook({ ...received, body }, checked);
  if (!verdict.valid) {
    const { check, message } = verdict;
    throw refusedFailure(`WEBHOOK_${check.toUpperCase()}_INVALID`, message);
  }
  return { id: verdict.eventId, layout: verdict.layout, ...readEvent(body) };
}

export interface WebhookEvent {
  /** Such as `dubbing.succeeded`. */
  readonly type: string | null;
  /** RFC 3339. */
  readonly created_at: string | null;
  readonly job: {
    readonly id: string | null;
    readonly kind: JobKind | null;
    readonly status: JobStatus | null;
    readonly client_reference: string | null;
    /** Where the result is read with GET. */
    readonly detail_url: string | null;
  };
}

/** Reads a verified body; never throws, even if it is not JSON. */
export function readEvent(body: Uint8Array | string): WebhookEvent {
  const event = parse(body);
  const type = asText(readMember(event, 'type'));
  const [typeKind, typeStatus] = type?.split('.') ?? [];
  const data = asObject(readMember(event, 'data')) ?? {};
  const kind = asText(readMember(data, 'object')) ?? typeKind;
  const status = asText(readMember(data, 'status')) ?? typeStatus;
  return {
    type,
    created_at: asText(readMember(event, 'created_at')),
    job: {
      id: asText(readMember(data, 'id')),
      kind: JOB_KIND_NAMES.find((each) => each === kind) ?? null,
      status: JOB_STATUSES.find((each) => each === status) ?? null,
      client_reference: asText(readMember(data, 'client_reference')),
      detail_url: asText(readMember(data, 'detail_url')),
    },
  };
}

function parse(body: Uint8Array | string): JsonObject {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  try {
    return asObject(JSON.parse(text)) ?? {};
  } catch {
    return {};
  }
}
