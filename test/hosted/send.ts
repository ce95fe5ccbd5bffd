import type { ServerResponse } from 'node:http';
import type { Desk } from './service.ts';

/** Sends a resource with the headers of the API. */
export function sendJson(desk: Desk, response: ServerResponse, status: number, body: object): void {
  const { has, hosted } = desk;
  response.writeHead(status, {
    'content-type': has('content-type-upper') ? 'Application/JSON; Charset=UTF-8' : 'application/json',
    'x-request-id': has('request-id-other') ? 'Req-7F3A-ok' : 'req_1',
    'cache-control': 'no-store',
  });
  response.end(JSON.stringify(hosted.change({ ...body })));
}

export function sendError(response: ServerResponse, status: number, code: string, detail: string): void {
  const body = { title: code, status, code, detail, request_id: 'Req-7F3A-error', retryable: false };
  response.writeHead(status, {
    'content-type': 'application/problem+json',
    'x-request-id': 'Req-7F3A-error',
  });
  response.end(JSON.stringify(body));
}
