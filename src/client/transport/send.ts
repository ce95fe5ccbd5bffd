/** Sends signed calls: signs each attempt, reads the answer whole, and repeats it where that helps. */
import { configurationFailure, Failure } from '../../base/failure.ts';
import { BodyTooLarge, collectBody } from '../../base/http.ts';
import { REQUEST_ID } from '../../protocol/headers.ts';
import type { ApiResponse, Call, CallOptions } from '../call.ts';
import { MAX_ANSWER_BYTES, type RawResponse, readResponse, requestIdFact } from './answer.ts';
import type { ClientContext } from './context.ts';
import { classifyError, gatewayFacts, PREFIX_UNKNOWN, UNREADABLE } from './error-class.ts';
import { startTimeLimit } from './http.ts';
import { describeNetworkError } from './network-error.ts';
import { type PreparedCall, prepareRequest, signedHeaders } from './request.ts';
import { type AttemptResult, withRetries } from './retry.ts';
import { detectSkew } from './server-time.ts';

/**
 * Sends one signed call, and repeats failed attempts.
 * @throws Failure; the reason of the call's signal when that is aborted
 */
export type Send = (call: Call) => Promise<ApiResponse>;

/** Makes the function that all signed calls go through. */
export function createSend(context: ClientContext): Send {
  return async (call) => {
    const request = prepareRequest(context, call);
    let clockCorrected = false;
    return withRetries(context, call, async (number): Promise<AttemptResult<ApiResponse>> => {
      const offset = context.clock.offset;
      try {
        const raw = await exchange(context, call, request, number);
        const read = readResponse(raw, context.clock.now());
        if (read.type === 'done') return read;
        const outcome = { ...read, failure: credentialsFailure(read.failure, context) };
        if (clockCorrected) return outcome;
        // The clock of a gateway may differ from that of the service.
        if (outcome.failure.facts.origin !== 'api' || !correctClock(context, raw, offset)) return outcome;
        clockCorrected = true;
        return { ...outcome, advice: { type: 'at-once' } };
      } catch (error) {
        call.signal?.throwIfAborted();
        return describeAttempt(error, context.base.origin);
      }
    });
  };
}

function describeAttempt(error: unknown, origin: string): AttemptResult<never> {
  if (error instanceof BodyTooLarge) {
    const { status } = error;
    const verdict = classifyError({ origin: 'gateway', status, code: UNREADABLE.tooLarge, retryable: null });
    const facts = gatewayFacts(verdict, status, error.message, 'the API');
    const failure = new Failure({ ...facts, ...requestIdFact(error.headers) });
    return { type: 'failed', failure, advice: { type: 'never' } };
  }
  return { type: 'failed', ...describeNetworkError(error, new URL(origin).host) };
}

/** The last part of the names of the headers that sign a request. */
const SIGNATURE_HEADER = /^(?!idempotency-)([a-z0-9-]+)-(?:key|timestamp|nonce|signature)$/i;

/** A secret or key that was copied with more than itself, as from a file whose quotes no shell has read. */
const COPIED_WITH_MORE = /^[\s"']|[\s"']$/;

/** Adds to a refusal what may be the reason for it, a setting of this side: the answer seldom leads to it. */
function credentialsFailure(
  failure: Failure,
  { headerPrefix: prefix, credentials: { key, secret } }: Pick<ClientContext, 'headerPrefix' | 'credentials'>,
): Failure {
  const { status, advice = '', errors, ...facts } = failure.facts;
  const [, expected = prefix] = SIGNATURE_HEADER.exec(errors?.[0]?.pointer ?? '') ?? [];
  // The service misses a header of another name, so it has not even seen the key.
  if (status === 400 && expected.toLowerCase() !== prefix.toLowerCase()) {
    return configurationFailure(
      PREFIX_UNKNOWN,
      `the service did not recognize the signature headers (prefix ${prefix})`,
      'Set its prefix: VLOC_HEADER_PREFIX.',
      { ...facts, status, blame: 'access' },
      { cause: failure.cause },
    );
  }
  if (status !== 401) return failure;
  const copied = Object.entries({ secret, key }).find(([, text]) => COPIED_WITH_MORE.test(text))?.[0];
  if (copied !== undefined) {
    return failure.with({
      message: `${failure.message}; the ${copied} begins or ends with a blank or a quotation mark`,
      advice: `Set the ${copied} without it, then run the same command again.`,
    });
  }
  const hint = `If they are right, the service may expect another header prefix than ${prefix}: set VLOC_HEADER_PREFIX.`;
  return failure.with({ advice: `${advice} ${hint}`.trim() });
}

/** True when a wrong clock caused the refusal and has been corrected. */
function correctClock(context: ClientContext, raw: RawResponse, offsetUsed: number): boolean {
  const { clock, runtime, emit } = context;
  const answer = { status: raw.status, date: raw.headers.date, aged: 'age' in raw.headers };
  const offset = detectSkew(answer, runtime.now(), offsetUsed);
  if (offset === null) return false;
  if (clock.correct(offset)) emit({ type: 'skew', seconds: Math.round(-offset / 1000) });
  return true;
}

/**
 * @param number of the attempt, from 1
 * @throws a network error, TimeOver, BodyTooLarge, or the reason of the caller's signal
 */
async function exchange(
  context: ClientContext,
  limits: CallOptions,
  request: PreparedCall,
  number: number,
): Promise<RawResponse> {
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
    const response = await context.http.send({ ...outgoing, signal: limit.signal });
    const { status } = response;
    const requestId = response.headers[REQUEST_ID] ?? null;
    emit({ type: 'response', method, url, status, durationMs: runtime.now() - begun, requestId });
    return { status, headers: response.headers, bytes: await collectBody(response, MAX_ANSWER_BYTES) };
  } finally {
    limit.clear();
  }
}
