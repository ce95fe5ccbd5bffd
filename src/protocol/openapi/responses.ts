/** Answers of the operations, with exactly the statuses that the table of operations declares. */
import { ERROR_CODES } from '../error-codes.ts';
import { REQUEST_ID_PATTERN } from '../headers.ts';
import type { Operation } from '../operations.ts';
import { PROBLEM_CONTENT_TYPE } from '../problem.ts';
import { type JsonSchema, referenceTo } from './json-schemas.ts';
import { isTraced } from './parameters.ts';
import { schemaNames } from './schemas.ts';

/** Components of the document that answers refer to. Source: specification, "Common headers and parameters". */
export const HEADERS = {
  RequestId: {
    description: 'id of the request, for support',
    required: true,
    schema: { type: 'string', pattern: REQUEST_ID_PATTERN.source },
  },
  ClientRequestId: { description: 'the X-Client-Request-ID of the request', schema: { type: 'string' } },
  IdempotencyReplayed: {
    description: 'true when the resource was made by an earlier request with the same key',
    required: true,
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  Location: {
    description: 'relative address of the new resource',
    required: true,
    schema: { type: 'string', pattern: '^/v1/' },
  },
  NoStore: {
    description: 'balances and lists must not be kept',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  RetryAfter: {
    description: 'seconds to wait; absent where waiting does not help',
    schema: { type: 'string', pattern: '^\\d+$' },
  },
  RateLimit: {
    description: 'requests that are left, and seconds to the next window',
    schema: { type: 'string' },
  },
  RateLimitPolicy: { description: 'requests that a window permits', schema: { type: 'string' } },
} as const satisfies JsonSchema;

type HeaderName = keyof typeof HEADERS;

const NAMES: Readonly<Record<HeaderName, string>> = {
  RequestId: 'X-Request-ID',
  ClientRequestId: 'X-Client-Request-ID',
  IdempotencyReplayed: 'Idempotency-Replayed',
  Location: 'Location',
  NoStore: 'Cache-Control',
  RetryAfter: 'Retry-After',
  RateLimit: 'RateLimit',
  RateLimitPolicy: 'RateLimit-Policy',
};

const referTo = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [NAMES[name], { $ref: `#/components/headers/${name}` }]));

/** The `responses` of an operation, by status. */
export function responsesOf(operation: Operation): JsonSchema {
  const successes = operation.success.map((status) => [status, describeSuccess(operation)]);
  const errors = operation.errors.map((status) => [status, describeError(operation, status)]);
  return Object.fromEntries([...successes, ...errors]);
}

function describeSuccess(operation: Operation): JsonSchema {
  const { answer } = schemaNames(operation);
  const isCreation = operation.action === 'createUpload' || operation.action === 'createJob';
  return {
    description: DESCRIPTIONS[operation.action],
    headers: referTo([
      ...sharedHeaders(operation),
      'RateLimit',
      'RateLimitPolicy',
      ...(operation.method === 'GET' ? [] : (['IdempotencyReplayed'] as const)),
      ...(isCreation ? (['Location'] as const) : []),
      ...(isTraced(operation) ? [] : (['NoStore'] as const)),
    ]),
    content: { 'application/json': { schema: { $ref: referenceTo(answer) } } },
  };
}

const DESCRIPTIONS: Readonly<Record<Operation['action'], string>> = {
  getCredits: 'the balance of the account and the use of the key',
  listCreditTransactions: 'posted lines of the ledger, the newest first',
  createUpload: 'the reservation, with the address that takes the bytes',
  listUploads: 'uploads, the newest first',
  getUpload: 'the upload as it is now',
  completeUpload: 'the upload: 200 when it was ready already, 202 when its validation began',
  createJob: 'the job, persisted and queued; its result comes later',
  listJobs: 'jobs, the newest first',
  getJob: 'the job as it is now',
  cancelJob: 'the job, cancelled',
};

function sharedHeaders(operation: Operation): HeaderName[] {
  return isTraced(operation) ? ['RequestId', 'ClientRequestId'] : ['RequestId'];
}

function describeError(operation: Operation, status: number): JsonSchema {
  const rows = Object.entries(ERROR_CODES).filter(([, row]) => row.status === status);
  const limited: HeaderName[] = status === 401 ? [] : ['RateLimit', 'RateLimitPolicy'];
  const delayed: HeaderName[] = status === 429 || status === 503 ? ['RetryAfter'] : [];
  return {
    description: rows.map(([code, row]) => `${code}: ${row.title}`).join('; '),
    headers: referTo([...sharedHeaders(operation), ...limited, ...delayed]),
    content: {
      [PROBLEM_CONTENT_TYPE]: {
        schema: {
          $ref: referenceTo('Problem'),
          properties: { status: { const: status }, code: { enum: rows.map(([code]) => code) } },
        },
      },
    },
  };
}
