/** Answers what Node could not read as HTTP: there is no request then, only a socket. */

import type { Duplex } from 'node:stream';
import { errorCode } from '../../errors/system-error.ts';
import { describeProblem, PROBLEM_CONTENT_TYPE } from '../../protocol/problem.ts';
import { DOCS_PATH } from './problem.ts';

const DETAILS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'the head of the request is larger than 16 KiB',
  ERR_HTTP_REQUEST_TIMEOUT: 'the head of the request did not come in time',
};

/** Writes a 400 by hand and closes the connection. `about` names the moment, the id and the origin of the answer. */
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
