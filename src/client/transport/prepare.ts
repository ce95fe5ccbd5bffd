/** What all attempts of one signed call share. */

import { Failure } from '../../errors/failure.ts';
import { IDEMPOTENCY_KEY_PATTERN } from '../../protocol/headers.ts';
import type { Call } from '../call.ts';
import type { ClientContext } from '../context.ts';
import { checkExtraHeaders } from './extra-headers.ts';
import { hashBody, type PreparedRequest } from './sign.ts';
import { resolveTarget } from './target.ts';

export interface Prepared extends PreparedRequest {
  /** The request line's target, gateway path included. */
  readonly sentTarget: string;
  /** Shown in events: a signed call has nothing secret in its address. */
  readonly url: string;
  /** Further headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

function usage(code: string, message: string, advice: string): Failure {
  return new Failure({ category: 'usage', code, message, advice });
}

/**
 * Fixes target, body bytes and Idempotency-Key, so that every attempt carries the same.
 * @throws Failure (`usage`) for a path without canonical form, a body on GET or DELETE, a malformed key or header
 */
export function prepareRequest(context: ClientContext, call: Call): Prepared {
  const method = call.method.toUpperCase();
  const target = resolveTarget(context.base, call.path, call.query);
  const body = encodeBody(call.body);
  if (body !== null && (method === 'GET' || method === 'DELETE')) {
    throw usage('BODY_NOT_ALLOWED', `${method} takes no body`, 'Leave the body out, or use POST.');
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
  throw usage(
    'IDEMPOTENCY_KEY_INVALID',
    'the Idempotency-Key is empty, too long or has a wrong character',
    advice,
  );
}
