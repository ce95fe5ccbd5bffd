/** Errors of the interface and their answers. Source: specification, "Errors"; contract, "Errors". */
import type { Duplex } from 'node:stream';
import { errorCode } from '../../base/system-error.ts';
import type { ErrorCode } from '../../protocol/error-codes.ts';
import { describeProblem, type FieldError, PROBLEM_CONTENT_TYPE } from '../../protocol/problem.ts';
import type { Exchange, ServiceResponse } from './exchange.ts';
import { DOCS_PATH } from './router.ts';

interface RefusalExtras {
  /** Invalid fields, for a 400. */
  readonly errors?: readonly FieldError[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Ends a request with an error of the table. The message becomes its `detail`, so it must not contain a secret. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  readonly extras: RefusalExtras;

  constructor(code: ErrorCode, detail: string, extras: RefusalExtras = {}) {
    super(detail);
    this.code = code;
    this.extras = extras;
  }
}

/** Creates a 400 that names one field. */
export function refuseField(pointer: string, detail: string): Refusal {
  return new Refusal('INVALID_REQUEST', `${pointer}: ${detail}`, { errors: [{ pointer, detail }] });
}

/** Creates a 400 that names every invalid field. */
export function refuseFields(errors: readonly FieldError[]): Refusal {
  const detail = errors.map((error) => `${error.pointer || 'the body'}: ${error.detail}`).join('; ');
  return new Refusal('INVALID_REQUEST', detail, { errors });
}

/** Creates the same answer for an id that is unknown, malformed, past its retention or belongs to another key. */
export function refuseUnknownResource(): Refusal {
  return new Refusal('RESOURCE_NOT_FOUND', 'there is no such resource for this key');
}

/** Creates the answer to a refused request. */
export function answerRefusal(refusal: Refusal, exchange: Exchange, origin: string): ServiceResponse {
  const problem = describeProblem(refusal.code, {
    detail: refusal.message,
    instance: exchange.path,
    requestId: exchange.id,
    docsUrl: origin + DOCS_PATH,
    ...(refusal.extras.errors === undefined ? {} : { errors: refusal.extras.errors }),
  });
  return {
    status: problem.status,
    headers: { 'Content-Type': PROBLEM_CONTENT_TYPE, ...refusal.extras.headers },
    body: JSON.stringify(problem),
  };
}

const DETAILS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'the head of the request is larger than 16 KiB',
  ERR_HTTP_REQUEST_TIMEOUT: 'the head of the request did not arrive in time',
};

/**
 * Answers bytes that Node cannot parse as HTTP: writes a 400 directly to the socket and closes it. `about` contains the
 * time, the id and the origin of the answer.
 */
export function answerParseFailure(
  error: Error,
  socket: Duplex,
  about: { now: number; requestId: string; origin: string },
): void {
  const code = errorCode(error);
  if (!socket.writable || code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { requestId, origin } = about;
  const problem = describeProblem('INVALID_REQUEST', {
    detail: DETAILS[code] ?? 'the request is not well-formed HTTP/1.1',
    instance: '/',
    requestId,
    docsUrl: origin + DOCS_PATH,
    errors: [],
  });
  const body = JSON.stringify(problem);
  const head = [
    'HTTP/1.1 400 Bad Request',
    `Date: ${new Date(about.now).toUTCString()}`,
    `Content-Type: ${PROBLEM_CONTENT_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    `X-Request-ID: ${requestId}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
