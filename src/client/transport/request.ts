/** Parts that all attempts of one signed call share: request line, body, Idempotency-Key and the headers of the caller. */
import { configurationFailure, type Failure, usageFailure } from '../../base/failure.ts';
import {
  canonicalTarget,
  encodeComponent,
  formatQuery,
  parseQuery,
  TargetError,
} from '../../protocol/canonical.ts';
import { type AuthHeaderNames, IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_PATTERN } from '../../protocol/headers.ts';
import { isLoopback } from '../../protocol/loopback.ts';
import { VERSION_PREFIX } from '../../protocol/operations.ts';
import { EMPTY_SHA256, sha256Hex, signRequest } from '../../protocol/signature.ts';
import type { Call, QueryValue } from '../call.ts';
import type { ClientContext } from './context.ts';

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

export interface Credentials {
  readonly key: string;
  readonly secret: string;
  readonly names: AuthHeaderNames;
}

/** Parts that stay the same over all attempts of a call. */
export interface SignableRequest {
  readonly method: string;
  readonly signedTarget: string;
  readonly body: Buffer | null;
  /** Lower-case hex of the body, computed once. */
  readonly bodySha256: string;
  readonly idempotencyKey: string | null;
}

/** The SHA-256 that is signed for a body; zero bytes when there is none. */
export function hashBody(body: Buffer | null): string {
  return body === null ? EMPTY_SHA256 : sha256Hex(body);
}

/**
 * Signs one attempt.
 * @param moment `timeMs` as the service sees it, `nonce` never used before
 */
export function signedHeaders(
  credentials: Credentials,
  request: SignableRequest,
  moment: { timeMs: number; nonce: string },
): Record<string, string> {
  const { key, secret, names } = credentials;
  const timestamp = String(Math.floor(moment.timeMs / 1000));
  const signature = signRequest(secret, {
    method: request.method,
    target: request.signedTarget,
    timestamp,
    nonce: moment.nonce,
    bodySha256: request.bodySha256,
  });
  return {
    [names.key]: key,
    [names.timestamp]: timestamp,
    [names.nonce]: moment.nonce,
    [names.signature]: signature,
    ...(request.body === null ? {} : { 'content-type': 'application/json' }),
    ...(request.idempotencyKey === null ? {} : { [IDEMPOTENCY_KEY]: request.idempotencyKey }),
  };
}

export interface BaseUrl {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path that a gateway puts before the version; empty for most. It is sent, but not signed. */
  readonly gateway: string;
  readonly loopback: boolean;
}

function baseUrlFailure(text: string, must: string): Failure {
  // Before an @ there may be a password, and in a query a key.
  const shown = /[@?#]/.test(text) ? '' : ` "${text}"`;
  return configurationFailure(
    'BASE_URL_INVALID',
    `invalid base URL${shown}: must ${must}`,
    'Set an address such as https://api.example.com/v1.',
  );
}

/**
 * Checks the address given by the user.
 * @throws Failure (`configuration`) unless it is https, or http to this machine, and ends in the version
 */
export function parseBaseUrl(text: string): BaseUrl {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) throw baseUrlFailure(text, 'start with https://');
  const loopback = isLoopback(url);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && loopback)) {
    throw baseUrlFailure(text, 'start with https://, except on this machine');
  }
  if (url.username !== '' || url.password !== '')
    throw baseUrlFailure(text, 'not contain a user name or password');
  if (url.search !== '' || url.hash !== '') throw baseUrlFailure(text, 'not have a query or a fragment');
  const path = url.pathname.replace(/\/+$/, '');
  if (!path.endsWith(VERSION_PREFIX)) throw baseUrlFailure(text, `end in ${VERSION_PREFIX}`);
  return { origin: url.origin, gateway: path.slice(0, -VERSION_PREFIX.length), loopback };
}

/**
 * Resolves an address that the service returned for a transfer (pre-signed upload, download); null unless it is https, or
 * http on this machine while the service runs on this machine too.
 */
export function resolveTransferUrl(base: Pick<BaseUrl, 'origin' | 'loopback'>, text: string): URL | null {
  if (!URL.canParse(text, base.origin)) return null;
  const url = new URL(text, base.origin);
  if (url.username !== '' || url.password !== '') return null;
  if (url.protocol === 'https:') return url;
  return url.protocol === 'http:' && base.loopback && isLoopback(url) ? url : null;
}
