/** Calls the service over HTTP with signatures made here, by nothing that the service uses. */

import { createHash, createHmac, randomBytes } from 'node:crypto';
import { type Agent, type IncomingHttpHeaders, request } from 'node:http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { createOpenApiDocument } from '../../../src/protocol/openapi/document.ts';
import { OPERATIONS, type Operation, UNDECLARED_STATUSES } from '../../../src/protocol/operations.ts';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  // Whatever JSON the service sent: tests look into it freely.
  // biome-ignore lint/suspicious/noExplicitAny: a typed reader here would repeat the code under test
  readonly json: any;
}

export interface Parts {
  readonly method?: string;
  readonly body?: Uint8Array | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
}

export interface Credentials {
  readonly key: string;
  readonly secret: string;
}

/** Sends one request as it is and reads the whole reply; fails for a reply that the OpenAPI document does not describe. */
export async function send(url: string, parts: Parts = {}): Promise<Reply> {
  const reply = await exchange(url, parts);
  const deviations = findDeviations(parts.method ?? 'GET', url, reply);
  if (deviations.length > 0) throw new Error(deviations.join('\n'));
  return reply;
}

/** The same, whatever the reply is like. */
export function exchange(
  url: string,
  { method = 'GET', body, headers = {}, agent }: Parts = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sending = request(
      url,
      { method, headers, ...(agent === undefined ? {} : { agent }) },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('error', reject);
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const isJson = /json/.test(response.headers['content-type'] ?? '');
          const json = isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : null;
          const reply = { status: response.statusCode ?? 0, headers: response.headers, bytes, json };
          resolve(reply);
        });
      },
    );
    sending.on('error', reject);
    sending.end(body);
  });
}

/** The four signature headers. `path` is in canonical form already. */
export function signHeaders(
  credentials: Credentials,
  signed: { method: string; path: string; body: Uint8Array | string; nowMs: number; nonce?: string },
): Record<string, string> {
  const timestamp = String(Math.floor(signed.nowMs / 1000));
  const nonce = signed.nonce ?? randomBytes(16).toString('base64url');
  const digest = createHash('sha256').update(signed.body).digest('hex');
  const text = `${signed.method}\n${signed.path}\n${timestamp}\n${nonce}\n${digest}`;
  return {
    'X-Service-Key': credentials.key,
    'X-Service-Timestamp': timestamp,
    'X-Service-Nonce': nonce,
    'X-Service-Signature': createHmac('sha256', credentials.secret).update(text).digest('hex'),
  };
}

export interface Caller {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** `key` is the Idempotency-Key; by default a new one. */
  post(path: string, body: unknown, key?: string): Promise<Reply>;
  delete(path: string, key?: string): Promise<Reply>;
}

/** A caller for one key; paths start with `/v1`. */
export function createCaller(
  baseUrl: string,
  credentials: Credentials,
  now: () => number,
  /** `exchange` for a service that the OpenAPI document does not describe. */
  ask = send,
): Caller {
  const { origin } = new URL(baseUrl);
  const call = (method: string, path: string, body: string, headers: Readonly<Record<string, string>>) =>
    ask(origin + path, {
      method,
      ...(body === '' ? {} : { body }),
      headers: { ...signHeaders(credentials, { method, path, body, nowMs: now() }), ...headers },
    });
  const freshKey = () => randomBytes(12).toString('hex');
  return {
    get: (path, headers = {}) => call('GET', path, '', headers),
    post: (path, body, key = freshKey()) =>
      call('POST', path, JSON.stringify(body), {
        'Content-Type': 'application/json',
        'Idempotency-Key': key,
      }),
    delete: (path, key = freshKey()) => call('DELETE', path, '', { 'Idempotency-Key': key }),
  };
}

const DOCUMENT_ID = 'https://document.invalid/openapi.json';
// Read without our types, as a program elsewhere reads it.
const document = JSON.parse(JSON.stringify(createOpenApiDocument()));

const ajv = new Ajv2020({ allErrors: true, strict: false });
addFormats.default(ajv);
ajv.addSchema({ $id: DOCUMENT_ID, ...document });

/** Scripted faults answer so instead of a proxy; the service itself has no cause to. */
const PROXY_STATUS = 502;

const compiled = new Map<string, ValidateFunction>();

/** Compiles the schema at a place of the document once. */
function validatorAt(...place: readonly string[]): ValidateFunction {
  const pointer = place.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')));
  const reference = `${DOCUMENT_ID}#/${pointer.join('/')}`;
  const validate = compiled.get(reference) ?? ajv.compile({ $ref: reference });
  compiled.set(reference, validate);
  return validate;
}

function findOperation(method: string, path: string): Operation | undefined {
  return OPERATIONS.find(
    (each) =>
      each.method === method && new RegExp(`^/v1${each.path.replace(/\{\w+\}/, '[^/]+')}$`).test(path),
  );
}

/** Differences of an answer from the document; none if it is not an operation of the interface. */
function findDeviations(method: string, url: string, reply: Reply): string[] {
  const operation = findOperation(method, new URL(url).pathname);
  if (operation === undefined) return [];
  const { operationId, path } = operation;
  const name = `${operationId} ${reply.status}`;
  const response = document.paths[path][method.toLowerCase()].responses[reply.status];
  if (response === undefined) {
    if (reply.status === PROXY_STATUS) return [];
    return Object.hasOwn(UNDECLARED_STATUSES, reply.status) ? [] : [`${name} is not declared`];
  }
  return [...checkHeaders(name, response.headers, reply), ...checkBody(name, operation, reply)];
}

function checkHeaders(name: string, headers: Record<string, { $ref: string }>, reply: Reply): string[] {
  return Object.entries(headers).flatMap(([header, { $ref }]) => {
    const value = reply.headers[header.toLowerCase()];
    const place = $ref.slice('#/'.length).split('/');
    const { required = false } = document.components.headers[place.at(-1) ?? ''];
    if (value === undefined) return required ? [`${name} lacks ${header}`] : [];
    return validatorAt(...place, 'schema')(value) ? [] : [`${name} has ${header}: ${value}`];
  });
}

function checkBody(name: string, { path, method }: Operation, reply: Reply): string[] {
  const { content } = document.paths[path][method.toLowerCase()].responses[reply.status];
  const type = reply.headers['content-type'] ?? '';
  if (content[type] === undefined) return [`${name} has the type "${type}"`];
  const status = String(reply.status);
  const place = ['paths', path, method.toLowerCase(), 'responses', status, 'content', type, 'schema'];
  const validate = validatorAt(...place);
  if (validate(reply.json)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${name}: ${instancePath || 'the body'} ${message}`,
  );
}
