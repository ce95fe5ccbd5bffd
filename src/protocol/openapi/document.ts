/** The OpenAPI document, generated from the tables of kinds, operations and errors and from the validators. */
import { authHeaderNames, DEFAULT_HEADER_PREFIX } from '../headers.ts';
import { KINDS } from '../kinds.ts';
import { OPERATIONS, type Operation, UNDECLARED_STATUSES, VERSION_PREFIX } from '../operations.ts';
import { type JsonSchema, referenceTo } from './json-schemas.ts';
import { PARAMETERS, parametersOf } from './parameters.ts';
import { HEADERS, responsesOf } from './responses.ts';
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
    tags: [...new Set(OPERATIONS.map(tagOf))].map((name) => ({ name })),
    security: [Object.fromEntries(SIGNATURE_PARTS.map((part) => [part, []]))],
    paths: describePaths(),
    webhooks: { jobEnded: describeWebhook(headerPrefix) },
    components: {
      schemas: createSchemas(),
      parameters: PARAMETERS,
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
