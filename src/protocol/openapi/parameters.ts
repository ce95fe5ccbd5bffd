/** Parameters of requests. Source: specification, "Common headers and parameters". */
import * as v from 'valibot';
import { IDEMPOTENCY_KEY_PATTERN } from '../headers.ts';
import { KINDS } from '../kinds.ts';
import { LIMITS } from '../limits.ts';
import type { Action, Operation } from '../operations.ts';
import { JOB_STATUSES, UPLOAD_PURPOSES, UPLOAD_STATUSES } from '../states.ts';
import { describeSchema, type JsonSchema } from './json-schemas.ts';

const LISTS: readonly Action[] = ['listCreditTransactions', 'listUploads', 'listJobs'];
const UNTRACED: readonly Action[] = [...LISTS, 'getCredits'];

const Moment = v.pipe(v.string(), v.isoTimestamp());
const { min, max, default: pageSize } = LIMITS.pageSize;

const PAGING = {
  limit: v.pipe(
    v.optional(v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max)), pageSize),
    v.description('records on one page'),
  ),
  cursor: v.pipe(
    v.string(),
    v.maxLength(LIMITS.cursorLength),
    v.description('the next_cursor of the page before, with the same filters'),
  ),
  created_after: v.pipe(
    Moment,
    v.description('inclusive; must carry a time zone and be earlier than created_before'),
  ),
  created_before: v.pipe(Moment, v.description('exclusive; must carry a time zone')),
};

const UPLOAD_FILTERS = {
  status: v.pipe(v.picklist(UPLOAD_STATUSES), v.description('only uploads in this state')),
  purpose: v.pipe(v.picklist(UPLOAD_PURPOSES), v.description('only uploads for this purpose')),
};

const JOB_FILTERS = {
  status: v.pipe(v.picklist(JOB_STATUSES), v.description('only jobs in this state')),
  client_reference: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(LIMITS.clientReferenceLength),
    v.description('only jobs with this reference'),
  ),
};

/** The query parameters of an operation. Source: specification, "List query parameters". */
export function queryOf(action: Action): Readonly<Record<string, v.GenericSchema>> {
  return {
    ...(LISTS.includes(action) ? PAGING : {}),
    ...(action === 'listUploads' ? UPLOAD_FILTERS : {}),
    ...(action === 'listJobs' ? JOB_FILTERS : {}),
  };
}

const HEADERS = {
  IdempotencyKey: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(LIMITS.idempotencyKeyLength),
    v.regex(IDEMPOTENCY_KEY_PATTERN),
    v.description('one business intent and all its retries share one key'),
  ),
  ClientRequestId: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(LIMITS.clientRequestIdLength),
    v.description('for tracing only; sent back in the answer'),
  ),
};

function describeParameter(place: 'header' | 'query', name: string, schema: v.GenericSchema): JsonSchema {
  const { description, ...described } = describeSchema(schema);
  return { name, in: place, description, schema: described };
}

/** Components of the document that operations refer to. */
export function describeHeaders(): JsonSchema {
  return {
    IdempotencyKey: {
      ...describeParameter('header', 'Idempotency-Key', HEADERS.IdempotencyKey),
      required: true,
    },
    ClientRequestId: describeParameter('header', 'X-Client-Request-ID', HEADERS.ClientRequestId),
  };
}

/** Returns true for operations that accept an X-Client-Request-ID and return it. */
export function isTraced(operation: Operation): boolean {
  return !UNTRACED.includes(operation.action);
}

/** Returns all parameters of an operation, path parameters first. */
export function parametersOf(operation: Operation): readonly JsonSchema[] {
  return [
    ...pathParameters(operation),
    ...Object.entries(queryOf(operation.action)).map(([name, schema]) =>
      describeParameter('query', name, schema),
    ),
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
