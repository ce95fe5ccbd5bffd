/** What all attempts of one signed call share: request line, body, Idempotency-Key and the headers of the caller. */
import { type Failure, usageFailure } from '../../base/failure.ts';
import {
  canonicalTarget,
  encodeComponent,
  formatQuery,
  parseQuery,
  TargetError,
} from '../../protocol/canonical.ts';
import { IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_PATTERN } from '../../protocol/headers.ts';
import { VERSION_PREFIX } from '../../protocol/operations.ts';
import type { Call, QueryValue } from '../call.ts';
import type { ClientContext } from '../context.ts';
import type { BaseUrl } from './base-url.ts';
import { hashBody, type SignableRequest } from './sign.ts';

export interface PreparedCall extends SignableRequest {
  /** The request line's target, gateway path included. */
  readonly sentTarget: string;
  /** Shown in events: a signed call has nothing secret in its address. */
  readonly url: string;
  /** Further headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

function malformedRequestFailure(code: string, message: string, advice: string): Failure {
  return usageFailure(code, message, advice);
}

/**
 * Fixes target, body bytes and Idempotency-Key, so that every attempt carries the same.
 * @throws Failure (`usage`) for a path without canonical form, a body on GET or DELETE, a malformed key or header
 */
export function prepareRequest(context: ClientContext, call: Call): PreparedCall {
  const method = call.method.toUpperCase();
  const target = resolveTarget(context.base, call.path, call.query);
  const body = encodeBody(call.body);
  if (body !== null && (method === 'GET' || method === 'DELETE')) {
    throw malformedRequestFailure(
      'BODY_NOT_ALLOWED',
      `${method} cannot have a body`,
      'Leave the body out, or use POST.',
    );
  }
  return {
    method,
    signedTarget: target.signed,
    sentTarget: target.sent,
    body,
    bodySha256: hashBody(body),
    idempotencyKey:
      method === 'GET' ? null : checkKey(call.idempotencyKey ?? context.runtime.idempotencyKey()),
    url: context.base.origin + target.sent,
    headers: checkExtraHeaders(call.headers ?? {}, context.headerPrefix),
  };
}

function encodeBody(body: unknown): Buffer | null {
  if (body === undefined) return null;
  return body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
}

function checkKey(key: string): string {
  if (IDEMPOTENCY_KEY_PATTERN.test(key)) return key;
  const advice = 'Use 1 to 255 letters, digits, dots, underscores, colons and hyphens.';
  throw malformedRequestFailure(
    'IDEMPOTENCY_KEY_INVALID',
    'the Idempotency-Key is empty, too long or has a wrong character',
    advice,
  );
}

interface Target {
  /** In canonical form, from the version on. Source: specification, "Authentication" 5. */
  readonly signed: string;
  /** The same after the path of the gateway. */
  readonly sent: string;
}

/** Runs work on a path; one that has no canonical form becomes a Failure (`usage`). */
function onPath<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    const message = `the path "${path}" cannot be sent: ${error.message}`;
    const advice = 'Write it as in the documentation, for example /credits.';
    throw usageFailure('PATH_INVALID', message, advice, {}, { cause: error });
  }
}

/**
 * Always in canonical form, so that a service which signs the raw target agrees as well.
 * @throws Failure (`usage`) for a path or query that has no canonical form
 */
export function resolveTarget(
  base: BaseUrl,
  path: string,
  query: Readonly<Record<string, QueryValue>> = {},
): Target {
  const signed = onPath(path, () => canonicalTarget(withQuery(withVersion(path), query)));
  return { signed, sent: base.gateway + signed };
}

function withVersion(path: string): string {
  if (/^[a-z][a-z\d+.-]*:/i.test(path)) throw new TargetError('it is a full URL, not a path');
  const rooted = path.startsWith('/') ? path : `/${path}`;
  return rooted === VERSION_PREFIX || rooted.startsWith(`${VERSION_PREFIX}/`)
    ? rooted
    : `${VERSION_PREFIX}${rooted}`;
}

function withQuery(path: string, query: Readonly<Record<string, QueryValue>>): string {
  const [bare = '', given = ''] = splitOnce(path, '?');
  const pairs = parseQuery(given);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) pairs.set(name, String(value));
  }
  return bare + formatQuery(pairs);
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/**
 * A path from segments that come from outside; each is encoded, so that none can leave its place.
 * @throws Failure (`usage`) for an empty segment and for text that is not Unicode
 */
export function joinPath(...segments: string[]): string {
  return onPath(segments.join('/'), () => segments.map((segment) => `/${encodeSegment(segment)}`).join(''));
}

function encodeSegment(segment: string): string {
  if (segment === '') throw new TargetError('a part of it is empty');
  return encodeComponent(segment);
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** Visible ASCII, space and tab: above all no line break. */
const VALUE = /^[\t\x20-\x7e]*$/;

/** Set by the client itself, or about the connection and the body. */
const OWN = new Set([
  'host',
  'connection',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'accept-encoding',
  'expect',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  IDEMPOTENCY_KEY,
]);

/**
 * The headers with their names in lower case.
 * @param prefix of the names that sign a request
 * @throws Failure (`usage`) for an invalid header, and for one that the client sets itself
 */
function checkExtraHeaders(
  given: Readonly<Record<string, string>>,
  prefix: string,
): Readonly<Record<string, string>> {
  const headers = Object.entries(given).map(([name, value]) => [name.toLowerCase(), value] as const);
  for (const [name, value] of headers) {
    if (!TOKEN.test(name) || !VALUE.test(value)) {
      throw refusedRequestFailure(
        `the header "${name}" has a character that no header may have`,
        'Use ASCII.',
      );
    }
    if (OWN.has(name) || name.startsWith(`${prefix.toLowerCase()}-`)) {
      throw refusedRequestFailure(`the header ${name} is set by vloc itself`, 'Leave it out.');
    }
  }
  return Object.fromEntries(headers);
}

function refusedRequestFailure(message: string, advice: string): Failure {
  return usageFailure('HEADER_INVALID', message, advice);
}
