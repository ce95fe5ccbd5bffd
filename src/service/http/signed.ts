/** From a routed request to the answer of its operation, in the contract's order of checks ("Signing"). */
import { CLIENT_REQUEST_ID } from '../../protocol/headers.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Action, Operation } from '../../protocol/operations.ts';
import { authenticate, checkAccess, checkTimestamp } from '../auth/authenticate.ts';
import type { AuthHeaderReader, AuthHeaders } from '../auth/headers.ts';
import type { Context } from '../context.ts';
import { HANDLERS } from '../operations.ts';
import { isPassingStoreError } from '../store/store.ts';
import type { Answer } from './answer.ts';
import { CallerGone, readBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import { readCall } from './read-call.ts';
import { Refusal, refuseField } from './refusal.ts';
import type { Target } from './sanity.ts';

/** Source: specification, "Common headers": the header is for every operation but these. */
const UNTRACED: readonly Action[] = ['getCredits', 'listCreditTransactions', 'listUploads', 'listJobs'];
const NO_BYTES = Buffer.alloc(0);
/** A busy or full store is worth another look after two seconds. */
const RETRY_AFTER_SECONDS = '2';

/** Answers a call of the interface; whatever goes wrong becomes a Refusal whose status the operation declares. */
export async function answerOperation(
  context: Context,
  readHeaders: AuthHeaderReader,
  exchange: Exchange,
  routed: { operation: Operation; target: Target; parameters: Readonly<Record<string, string>> },
): Promise<Answer> {
  const { operation, target, parameters } = routed;
  try {
    echoClientRequestId(exchange, operation);
    const headers = requireAuthHeaders(readHeaders, exchange, operation);
    checkTimestamp(headers.timestamp, exchange.receivedAt);
    const body =
      operation.method === 'POST' ? await readBody(exchange, LIMITS.jsonBytes, context.clock) : NO_BYTES;
    const now = exchange.receivedAt;
    const key = await authenticate(context, headers, {
      method: operation.method,
      target: target.canonical,
      body,
      now,
    });
    exchange.keyId = key.id;
    checkAccess(context, key, { address: exchange.address, operation, now });
    Object.assign(exchange.headers, context.rate.take(key.id, now));
    const call = readCall(exchange, operation, target, key, body, parameters);
    return await HANDLERS[operation.action](context, call);
  } catch (error) {
    if (error instanceof Refusal || error instanceof CallerGone) throw error;
    throw explainFault(context, exchange, operation, error);
  }
}

function requireAuthHeaders(read: AuthHeaderReader, exchange: Exchange, operation: Operation): AuthHeaders {
  const result = read(exchange.request.headers);
  if (result.ok) return result.value;
  if (operation.errors.includes(400)) throw refuseField(result.header, result.detail);
  throw new Refusal('AUTHENTICATION_FAILED', `${result.header}: ${result.detail}`);
}

function echoClientRequestId(exchange: Exchange, operation: Operation): void {
  const value = exchange.request.headers[CLIENT_REQUEST_ID];
  if (typeof value !== 'string' || UNTRACED.includes(operation.action)) return;
  if (value.length <= LIMITS.clientRequestIdLength && /^[\x20-\x7e]+$/.test(value)) {
    exchange.headers['X-Client-Request-ID'] = value;
  } else if (operation.errors.includes(400)) {
    throw refuseField(CLIENT_REQUEST_ID, `must be 1 to ${LIMITS.clientRequestIdLength} visible characters`);
  }
}

function explainFault(context: Context, exchange: Exchange, operation: Operation, error: unknown): Refusal {
  context.log({
    level: 'error',
    message: `${operation.operationId} failed`,
    requestId: exchange.id,
    error,
  });
  if (operation.errors.includes(500) && !isPassingStoreError(error)) {
    return new Refusal('INTERNAL_ERROR', `the service failed; its log has the cause under ${exchange.id}`);
  }
  return new Refusal(
    'SERVICE_TEMPORARILY_UNAVAILABLE',
    `the service could not do this now; its log has the cause under ${exchange.id}`,
    { headers: { 'Retry-After': RETRY_AFTER_SECONDS } },
  );
}
