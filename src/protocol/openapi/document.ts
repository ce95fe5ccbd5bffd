/** The OpenAPI document, generated from the tables of kinds, operations and errors and from the validators. */
import { ERROR_CODES } from '../error-codes.ts';
import { authHeaderNames, DEFAULT_HEADER_PREFIX, REQUEST_ID_PATTERN } from '../headers.ts';
import { KINDS } from '../kinds.ts';
import { OPERATIONS, type Operation, UNDECLARED_STATUSES, VERSION_PREFIX } from '../operations.ts';
import { PROBLEM_CONTENT_TYPE } from '../problem.ts';
import { type JsonSchema, referenceTo } from './json-schemas.ts';
import { describeHeaders, isTraced, parametersOf } from './parameters.ts';
import { createSchemas, schemaNames } from './schemas.ts';
import { describeWebhook } from './webhook.ts';

/** Version of the interface itself. Source: specification, "Versioning". */
const INTERFACE_VERSION = '1.0.0';

/**
 * Creates the document.
 * @param about `baseUrl` ends in `/v1` and may be relative; `headerPrefix` is the prefix of the signature headers
 */
export function createOpenApiDocument(about: { baseUrl?: string; headerPrefix?: string } = {}): JsonSchema {
  const { baseUrl = VERSION_PREFIX, headerPrefix = DEFAULT_HEADER_PREFIX } = about;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Video Localization API',
      version: INTERFACE_VERSION,
      license: { name: 'MIT', identifier: 'MIT' },
      description: describeInterface(),
    },
    servers: [{ url: baseUrl }],
    tags: describeTags(),
    security: [Object.fromEntries(SIGNATURE_PARTS.map((part) => [part, []]))],
    paths: describePaths(),
    webhooks: { jobEnded: describeWebhook(headerPrefix) },
    components: {
      schemas: createSchemas(),
      parameters: describeHeaders(),
      headers: HEADERS,
      securitySchemes: describeSignature(headerPrefix),
    },
  };
}

function describeInterface(): string {
  const others = Object.entries(UNDECLARED_STATUSES).map(([status, when]) => `- ${status}: ${when}`);
  return [
    'Asynchronous localization of single videos. A create operation answers 202 when the job is persisted; its result is read with the GET operation of the same resource, or announced to the callback_url.',
    'Statuses that are answered beyond those of an operation:',
    others.join('\n'),
  ].join('\n\n');
}

const SIGNATURE_PARTS = ['key', 'timestamp', 'nonce', 'signature'] as const;

const PART_DESCRIPTIONS: Readonly<Record<(typeof SIGNATURE_PARTS)[number], string>> = {
  key: 'public identifier of the API key',
  timestamp: 'Unix time in seconds, at most 300 s away from the time of the service',
  nonce: 'a random value that is used once within 10 minutes',
  signature:
    'lower-case hexadecimal HMAC-SHA256, keyed with the secret, of five lines: method, canonical path and query, timestamp, nonce, SHA-256 of the body in hexadecimal',
};

/** The four headers together are one signature. Source: specification, "Authentication" 1. */
function describeSignature(headerPrefix: string): JsonSchema {
  const names = authHeaderNames(headerPrefix);
  return Object.fromEntries(
    SIGNATURE_PARTS.map((part) => [
      part,
      { type: 'apiKey', in: 'header', name: writtenName(names[part]), description: PART_DESCRIPTIONS[part] },
    ]),
  );
}

/** Returns `x-service-key` in the spelling of documents: `X-Service-Key`. */
function writtenName(name: string): string {
  return name.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase());
}

function describePaths(): JsonSchema {
  const paths: Record<string, JsonSchema> = {};
  for (const operation of OPERATIONS) {
    const { method, path } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeOperation(operation) };
  }
  return paths;
}

function describeOperation(operation: Operation): JsonSchema {
  const { request } = schemaNames(operation);
  return {
    operationId: operation.operationId,
    tags: [tagOf(operation)],
    summary: summaryOf(operation),
    parameters: parametersOf(operation),
    ...(request === null
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { $ref: referenceTo(request) } } },
          },
        }),
    responses: responsesOf(operation),
  };
}

function tagOf({ kind, path }: Operation): string {
  if (kind !== null) return KINDS[kind].path;
  return path.startsWith('/uploads') ? 'uploads' : 'credits';
}

/** The groups of operations, in the order of the document. */
function describeTags(): JsonSchema[] {
  const tags = new Map(OPERATIONS.map((operation) => [tagOf(operation), describeTag(operation)]));
  return [...tags].map(([name, description]) => ({ name, description }));
}

function describeTag({ kind, path }: Operation): string {
  if (kind !== null) return `Jobs that ${KINDS[kind].summary}.`;
  return path.startsWith('/uploads')
    ? 'Files that jobs can use as their input.'
    : 'The balance of the account, and what was charged.';
}

function summaryOf({ action, kind }: Operation): string {
  if (kind === null) return SUMMARIES[action];
  return `${SUMMARIES[action]}: ${KINDS[kind].summary}`;
}

const SUMMARIES: Readonly<Record<Operation['action'], string>> = {
  getCredits: 'read the balance and the monthly use',
  listCreditTransactions: 'list posted lines of the ledger',
  createUpload: 'reserve an upload',
  listUploads: 'list uploads',
  getUpload: 'read an upload',
  completeUpload: 'complete an upload after its bytes were sent',
  createJob: 'create a job',
  listJobs: 'list jobs',
  getJob: 'read a job',
  cancelJob: 'cancel a job',
};

/** Components of the document that answers refer to. Source: specification, "Common headers and parameters". */
const HEADERS = {
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
function responsesOf(operation: Operation): JsonSchema {
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
  createUpload: 'the reservation, with the address that accepts the bytes',
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
