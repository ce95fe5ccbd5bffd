/** Answers a request to an operation, with the order of checks in the contract ("Signing"). */
import type { IncomingHttpHeaders } from 'node:http';
import { CLIENT_REQUEST_ID, IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_PATTERN } from '../../protocol/headers.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Action, Operation } from '../../protocol/operations.ts';
import {
  type AuthHeaderReader,
  type AuthHeaders,
  authenticateRequest,
  checkAccess,
  checkTimestamp,
} from '../auth/authenticate.ts';
import type { KeyRow } from '../auth/keys.ts';
import type { Handler, OperationCall, ServiceContext } from '../context.ts';
import { getCredits, listCreditTransactions } from '../credits/read.ts';
import { CallerGone, isPlain, readBody } from '../http/body.ts';
import type { Exchange, ServiceResponse } from '../http/exchange.ts';
import { Refusal, refuseField } from '../http/refusal.ts';
import type { RequestTarget } from '../http/sanity.ts';
import { createJob } from '../jobs/create.ts';
import { cancelJob } from '../jobs/finish.ts';
import { getJob, listJobs } from '../jobs/read.ts';
import { StorageAway } from '../storage/storage.ts';
import { isPassingStoreError } from '../store/store.ts';
import { getUpload, listUploads } from '../uploads/read.ts';
import { completeUpload, createUpload } from '../uploads/reservation.ts';

/** The handler of each action. Together with the table of operations they form all 26 operations. */
const HANDLERS: Readonly<Record<Action, Handler>> = {
  getCredits,
  listCreditTransactions,
  createUpload,
  listUploads,
  getUpload,
  completeUpload,
  createJob,
  listJobs,
  getJob,
  cancelJob,
};

/** Operations without `X-Client-Request-ID`. Source: specification, "Common headers". */
const UNTRACED: readonly Action[] = ['getCredits', 'listCreditTransactions', 'listUploads', 'listJobs'];
const NO_BYTES = Buffer.alloc(0);
/** A busy or full store may recover after two seconds. */
const RETRY_AFTER_SECONDS = '2';

/** Answers a call of the interface. Every failure becomes a Refusal with a status that the operation declares. */
export async function answerOperation(
  context: ServiceContext,
  readHeaders: AuthHeaderReader,
  exchange: Exchange,
  routed: { operation: Operation; target: RequestTarget; parameters: Readonly<Record<string, string>> },
): Promise<ServiceResponse> {
  const { operation, target, parameters } = routed;
  try {
    echoClientRequestId(exchange, operation);
    const headers = requireAuthHeaders(readHeaders, exchange, operation);
    checkTimestamp(headers.timestamp, exchange.receivedAt);
    const body =
      operation.method === 'POST' ? await readBody(exchange, LIMITS.jsonBytes, context.clock) : NO_BYTES;
    const now = exchange.receivedAt;
    const key = await authenticateRequest(context, headers, {
      method: operation.method,
      target: target.canonical,
      body,
      now,
    });
    exchange.keyId = key.id;
    checkAccess(context.config, key, { address: exchange.address, operation, now });
    Object.assign(exchange.headers, await context.rate.take(key.id, now));
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

function explainFault(
  context: ServiceContext,
  exchange: Exchange,
  operation: Operation,
  error: unknown,
): Refusal {
  context.log({
    level: 'error',
    message: `${operation.operationId} failed`,
    requestId: exchange.id,
    error,
  });
  if (operation.errors.includes(500) && !isPassingStoreError(error) && !(error instanceof StorageAway)) {
    return new Refusal('INTERNAL_ERROR', `the service failed; its log has the cause under ${exchange.id}`);
  }
  return new Refusal(
    'SERVICE_TEMPORARILY_UNAVAILABLE',
    `the service could not do this now; its log has the cause under ${exchange.id}`,
    { headers: { 'Retry-After': RETRY_AFTER_SECONDS } },
  );
}

const JSON_TYPE = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i;
const LIST_ACTIONS: readonly string[] = ['listUploads', 'listJobs', 'listCreditTransactions'];

/**
 * Reads the input of a handler from an authenticated request.
 * @throws Refusal UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST (JSON, Idempotency-Key, query)
 */
function readCall(
  exchange: Exchange,
  operation: Operation,
  target: RequestTarget,
  key: KeyRow,
  bytes: Buffer,
  parameters: Readonly<Record<string, string>>,
): OperationCall {
  refuseUnknownQuery(operation, target);
  const { headers } = exchange.request;
  return {
    operation,
    key,
    path: target.path,
    resourceId: Object.values(parameters)[0] ?? '',
    query: target.query,
    body: operation.method === 'POST' ? parseBody(bytes, headers) : undefined,
    idempotencyKey: operation.method === 'GET' ? '' : readIdempotencyKey(headers[IDEMPOTENCY_KEY]),
    now: exchange.receivedAt,
  };
}

function refuseUnknownQuery(operation: Operation, target: RequestTarget): void {
  if (LIST_ACTIONS.includes(operation.action)) return;
  const [name] = target.query.keys();
  if (name === undefined) return;
  throw refuseField(name, 'this operation takes no query parameters');
}

function readIdempotencyKey(value: string | string[] | undefined): string {
  if (typeof value === 'string' && IDEMPOTENCY_KEY_PATTERN.test(value)) return value;
  throw refuseField(
    IDEMPOTENCY_KEY,
    'required on POST and DELETE: 1 to 255 characters of A-Z a-z 0-9 . _ : -; keep it for retries of the same intent',
  );
}

function parseBody(bytes: Buffer, headers: IncomingHttpHeaders): unknown {
  const { 'content-type': type = '', 'content-encoding': encoding } = headers;
  if (!isPlain(encoding)) {
    throw new Refusal(
      'UNSUPPORTED_MEDIA_TYPE',
      `the body must be sent as it is, not with Content-Encoding: ${String(encoding).slice(0, 80)}`,
      { headers: { 'Accept-Encoding': 'identity' } },
    );
  }
  if (!JSON_TYPE.test(type)) {
    throw new Refusal(
      'UNSUPPORTED_MEDIA_TYPE',
      `the body must be application/json, not "${type.slice(0, 80)}"`,
    );
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw refuseField('', 'the body is not JSON in UTF-8');
  }
}
