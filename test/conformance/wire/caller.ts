/** Calls operations with one key: builds, signs and sends requests. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Headers, type Incoming, type Outgoing, send } from './exchange.ts';
import { isObject } from './json.ts';
import { type Credentials, formatTarget, type Query, signatureOf } from './sign.ts';

/** One call of the interface. */
export interface Parts {
  readonly method: string;
  /** Below the base URL, percent-encoded. */
  readonly path: string;
  readonly query?: Query;
  /** Bytes are sent unchanged, anything else as JSON. */
  readonly body?: unknown;
  /** Default: a new one if one is required; null: none. */
  readonly idempotencyKey?: string | null;
  /** Added to the headers of the call. Replace headers with the same name. */
  readonly headers?: Headers;
  /** Unix seconds. Default: now. */
  readonly timestamp?: number;
  /** Default: a new one. */
  readonly nonce?: string;
}

export interface HeaderNames {
  readonly key: string;
  readonly timestamp: string;
  readonly nonce: string;
  readonly signature: string;
}

export interface Caller {
  readonly credentials: Credentials;
  readonly names: HeaderNames;
  sign(parts: Parts): Outgoing;
  call(parts: Parts): Promise<Incoming>;
  get(path: string, query?: Query): Promise<Incoming>;
  post(path: string, body: unknown, idempotencyKey?: string): Promise<Incoming>;
  remove(path: string, idempotencyKey?: string): Promise<Incoming>;
}

export interface CallerOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path of the base URL, ends in `/v1`. */
  readonly basePath: string;
  readonly headerPrefix: string;
  readonly credentials: Credentials;
  /** ms since 1970, by the clock of the service. */
  readonly now: () => number;
  /** Waits and retries if the service answers that there are too many requests. */
  readonly patient: boolean;
}

/** If a service asks for a longer wait, the run fails instead. */
const MOST_PATIENCE_SECONDS = 60;

/** Returns a unique value for an Idempotency-Key or a nonce: 128 bits. */
export function freshToken(): string {
  return randomBytes(16).toString('base64url');
}

/** Source: specification, "Authentication" 1. */
function headerNames(prefix: string): HeaderNames {
  return {
    key: `${prefix}-Key`,
    timestamp: `${prefix}-Timestamp`,
    nonce: `${prefix}-Nonce`,
    signature: `${prefix}-Signature`,
  };
}

/** Creates a caller with one key. Every attempt is signed again. */
export function createCaller(options: CallerOptions): Caller {
  const { origin, basePath, credentials } = options;
  const names = headerNames(options.headerPrefix);

  const sign = (parts: Parts): Outgoing => {
    const { method } = parts;
    const target = formatTarget(basePath + parts.path, parts.query ?? []);
    const body = bodyOf(parts.body);
    const timestamp = String(parts.timestamp ?? Math.floor(options.now() / 1000));
    const nonce = parts.nonce ?? freshToken();
    const signature = signatureOf(credentials.secret, {
      method,
      target,
      timestamp,
      nonce,
      body: body ?? Buffer.alloc(0),
    });
    const headers = {
      [names.key]: credentials.key,
      [names.timestamp]: timestamp,
      [names.nonce]: nonce,
      [names.signature]: signature,
      ...(body === null ? {} : { 'Content-Type': 'application/json' }),
      ...idempotencyHeader(parts),
      ...parts.headers,
    };
    return { method, origin, target, headers, body };
  };

  const call = async (parts: Parts): Promise<Incoming> => {
    const answer = await send(sign(parts));
    const seconds = options.patient ? askedPatience(answer) : 0;
    if (seconds === 0) return answer;
    await sleep(seconds * 1000);
    return send(sign(parts));
  };

  return {
    credentials,
    names,
    sign,
    call,
    get: (path, query = []) => call({ method: 'GET', path, query }),
    post: (path, body, idempotencyKey = freshToken()) => call({ method: 'POST', path, body, idempotencyKey }),
    remove: (path, idempotencyKey = freshToken()) => call({ method: 'DELETE', path, idempotencyKey }),
  };
}

function bodyOf(body: unknown): Buffer | null {
  if (body === undefined) return null;
  return Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
}

function idempotencyHeader({ method, idempotencyKey }: Parts): Record<string, string> {
  if (method === 'GET' || idempotencyKey === null) return {};
  return { 'Idempotency-Key': idempotencyKey ?? freshToken() };
}

/** Returns the seconds to wait before the same call may succeed; 0 if the answer does not ask to wait. */
function askedPatience(answer: Incoming): number {
  const limited =
    answer.status === 429 && isObject(answer.json) && answer.json.code === 'RATE_LIMIT_EXCEEDED';
  const seconds = Number(answer.headers['retry-after']);
  return limited && seconds > 0 && seconds <= MOST_PATIENCE_SECONDS ? seconds : 0;
}
