/** Answers of the API, and how they are sent. */
import type { ServerResponse } from 'node:http';
import type { Desk } from './service.ts';

/** What an operation has decided; the body is made when it is sent, so that a replay shows the resource as it is then. */
export interface Answer {
  readonly status: number;
  readonly body: () => object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isProblem?: true;
}

/** A synchronous error. Source: specification, "Errors". */
export function problem(
  status: number,
  code: string,
  detail: string,
  more: { readonly retryable?: boolean; readonly headers?: Readonly<Record<string, string>> } = {},
): Answer {
  const body = { title: code, status, detail, code, retryable: more.retryable ?? false };
  return { status, body: () => body, headers: more.headers ?? {}, isProblem: true };
}

export const NOT_FOUND = problem(404, 'NO_SUCH_THING', 'There is none.');

/** Sends an answer with the headers of the API. */
export function sendAnswer(desk: Desk, path: string, answer: Answer, response: ServerResponse) {
  const { has, hosted } = desk;
  const id = has('request-id-other') ? 'Req-7F3A-ok' : desk.nextRequestId();
  const common = { 'x-request-id': id, date: new Date(desk.now()).toUTCString() };
  if (answer.isProblem) {
    const body = answer.body();
    const code = 'code' in body ? String(body.code).toLowerCase() : '';
    const members = { type: `https://docs.example/errors/${code}`, instance: path, request_id: id };
    response.writeHead(answer.status, {
      'content-type': 'application/problem+json',
      ...common,
      ...answer.headers,
    });
    return void response.end(JSON.stringify({ ...members, ...body }));
  }
  response.writeHead(answer.status, {
    'content-type': has('content-type-upper') ? 'Application/JSON; Charset=UTF-8' : 'application/json',
    'cache-control': 'no-store',
    ...common,
    ...answer.headers,
  });
  response.end(JSON.stringify(hosted.change({ ...answer.body() })));
}
