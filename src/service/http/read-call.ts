/** Reads what a handler needs out of an authenticated request. */
import { IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_PATTERN } from '../../protocol/headers.ts';
import type { Operation } from '../../protocol/operations.ts';
import type { KeyRow } from '../auth/keys.ts';
import type { Call } from '../call.ts';
import type { Exchange } from './exchange.ts';
import { Refusal, refuseField, refuseUnknownResource } from './refusal.ts';
import type { Target } from './sanity.ts';

const JSON_TYPE = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i;
const LIST_ACTIONS: readonly string[] = ['listUploads', 'listJobs', 'listCreditTransactions'];

/**
 * @throws Refusal UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST (JSON, Idempotency-Key, query), and RESOURCE_NOT_FOUND for a
 *   query where the operation takes none and declares no 400
 */
export function readCall(
  exchange: Exchange,
  operation: Operation,
  target: Target,
  key: KeyRow,
  bytes: Buffer,
  parameters: Readonly<Record<string, string>>,
): Call {
  refuseUnknownQuery(operation, target);
  const { headers } = exchange.request;
  return {
    operation,
    key,
    path: target.path,
    resourceId: Object.values(parameters)[0] ?? '',
    query: target.query,
    body: operation.method === 'POST' ? parseBody(bytes, headers['content-type'] ?? '') : undefined,
    idempotencyKey: operation.method === 'GET' ? '' : readIdempotencyKey(headers[IDEMPOTENCY_KEY]),
    now: exchange.receivedAt,
  };
}

function refuseUnknownQuery(operation: Operation, target: Target): void {
  if (LIST_ACTIONS.includes(operation.action)) return;
  const [name] = target.query.keys();
  if (name === undefined) return;
  if (!operation.errors.includes(400)) throw refuseUnknownResource();
  throw refuseField(name, 'this operation takes no query parameters');
}

function readIdempotencyKey(value: string | string[] | undefined): string {
  if (typeof value === 'string' && IDEMPOTENCY_KEY_PATTERN.test(value)) return value;
  throw refuseField(
    IDEMPOTENCY_KEY,
    'required on POST and DELETE: 1 to 255 characters of A-Z a-z 0-9 . _ : -; keep it for retries of the same intent',
  );
}

function parseBody(bytes: Buffer, contentType: string): unknown {
  if (!JSON_TYPE.test(contentType)) {
    throw new Refusal(
      'UNSUPPORTED_MEDIA_TYPE',
      `the body must be application/json, not "${contentType.slice(0, 80)}"`,
    );
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw refuseField('', 'the body is not JSON in UTF-8');
  }
}
