/** One attempt of a signed call: sign, send, read the answer whole. */
import { REQUEST_ID } from '../../protocol/headers.ts';
import type { CallOptions } from '../call.ts';
import type { ClientContext } from '../context.ts';
import type { RawAnswer } from './answer.ts';
import { collectBody } from './collect.ts';
import type { Http } from './http.ts';
import { MAX_ANSWER_BYTES } from './json.ts';
import type { Prepared } from './prepare.ts';
import { signedHeaders } from './sign.ts';
import { startTimeLimit } from './time-limit.ts';

/**
 * @param number of the attempt, from 1
 * @throws a network error, TimeOver, BodyTooLarge, or the reason of the caller's signal
 */
export async function exchange(
  context: ClientContext,
  http: Http,
  limits: CallOptions,
  request: Prepared,
  number: number,
): Promise<RawAnswer> {
  const { base, runtime, clock, emit, timeouts } = context;
  const { method, url, body, idempotencyKey } = request;
  const begun = runtime.now();
  const left = (limits.deadline ?? Number.POSITIVE_INFINITY) - begun;
  const limit = startTimeLimit(Math.min(timeouts.callMs, left), limits.signal, runtime);
  emit({
    type: 'request',
    method,
    url,
    attempt: number,
    ...(idempotencyKey === null ? {} : { idempotencyKey }),
  });
  try {
    const headers = {
      ...request.headers,
      ...signedHeaders(context.credentials, request, { timeMs: clock.now(), nonce: runtime.nonce() }),
      accept: 'application/json, application/problem+json',
      'user-agent': context.userAgent,
    };
    const outgoing = { origin: base.origin, target: request.sentTarget, method, headers, body };
    const response = await http.send({ ...outgoing, signal: limit.signal });
    const { status } = response;
    const requestId = response.headers[REQUEST_ID] ?? null;
    emit({ type: 'response', method, url, status, durationMs: runtime.now() - begun, requestId });
    return { status, headers: response.headers, bytes: await collectBody(response, MAX_ANSWER_BYTES) };
  } finally {
    limit.clear();
  }
}
