/** Parameters of requests. Source: specification, "Common headers and parameters". */
import { IDEMPOTENCY_KEY_PATTERN } from '../headers.ts';
import { KINDS } from '../kinds.ts';
import { LIMITS } from '../limits.ts';
import type { Action, Operation } from '../operations.ts';
import { JOB_STATUSES, UPLOAD_PURPOSES, UPLOAD_STATUSES } from '../states.ts';
import type { JsonSchema } from './json-schemas.ts';

const LISTS: readonly Action[] = ['listCreditTransactions', 'listUploads', 'listJobs'];
const UNTRACED: readonly Action[] = [...LISTS, 'getCredits'];

const reference = { type: 'string', minLength: 1, maxLength: LIMITS.clientReferenceLength };

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: true,
  description: 'one business intent and all its retries share one key',
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: LIMITS.idempotencyKeyLength,
    pattern: IDEMPOTENCY_KEY_PATTERN.source,
  },
};

const CLIENT_REQUEST_ID = {
  name: 'X-Client-Request-ID',
  in: 'header',
  description: 'for tracing only; sent back in the answer',
  schema: { type: 'string', minLength: 1, maxLength: LIMITS.clientRequestIdLength },
};

const query = (name: string, description: string, schema: JsonSchema) => ({
  name,
  in: 'query',
  description,
  schema,
});

const { min, max, default: pageSize } = LIMITS.pageSize;

const PAGING = [
  query('limit', 'records on one page', { type: 'integer', minimum: min, maximum: max, default: pageSize }),
  query('cursor', 'the next_cursor of the page before, with the same filters', {
    type: 'string',
    maxLength: LIMITS.cursorLength,
  }),
  query('created_after', 'inclusive; must carry a time zone and be earlier than created_before', {
    type: 'string',
    format: 'date-time',
  }),
  query('created_before', 'exclusive; must carry a time zone', { type: 'string', format: 'date-time' }),
];

const UPLOAD_FILTERS = [
  query('status', 'only uploads in this state', { type: 'string', enum: UPLOAD_STATUSES }),
  query('purpose', 'only uploads for this purpose', { type: 'string', enum: UPLOAD_PURPOSES }),
];

const JOB_FILTERS = [
  query('status', 'only jobs in this state', { type: 'string', enum: JOB_STATUSES }),
  query('client_reference', 'only jobs with this reference', reference),
];

/** Components of the document that operations refer to. */
export const PARAMETERS: JsonSchema = {
  IdempotencyKey: IDEMPOTENCY_KEY,
  ClientRequestId: CLIENT_REQUEST_ID,
};

/** Returns true for operations that accept an X-Client-Request-ID and return it. */
export function isTraced(operation: Operation): boolean {
  return !UNTRACED.includes(operation.action);
}

/** Returns all parameters of an operation, path parameters first. */
export function parametersOf(operation: Operation): readonly JsonSchema[] {
  return [
    ...pathParameters(operation),
    ...(LISTS.includes(operation.action) ? PAGING : []),
    ...(operation.action === 'listUploads' ? UPLOAD_FILTERS : []),
    ...(operation.action === 'listJobs' ? JOB_FILTERS : []),
    ...(operation.method === 'GET' ? [] : [{ $ref: '#/components/parameters/IdempotencyKey' }]),
    ...(isTraced(operation) ? [{ $ref: '#/components/parameters/ClientRequestId' }] : []),
  ];
}

function pathParameters({ path, kind }: Operation): JsonSchema[] {
  const of = kind === null ? 'an upload' : `a job: ${KINDS[kind].summary}`;
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: `id of ${of}`,
    schema: { type: 'string' },
  }));
}
