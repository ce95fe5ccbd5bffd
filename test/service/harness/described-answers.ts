/** Holds every answer of the interface against the OpenAPI document: its status is declared, its headers and body fit. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { createOpenApiDocument } from '../../../src/protocol/openapi/document.ts';
import { OPERATIONS, type Operation, UNDECLARED_STATUSES } from '../../../src/protocol/operations.ts';
import type { Reply } from './caller.ts';

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
export function findDeviations(method: string, url: string, reply: Reply): string[] {
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
