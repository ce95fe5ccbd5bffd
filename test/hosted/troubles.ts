/** Answers that come instead of the right one, as a hosted service or a proxy in front of it sends them. */
import type { ServerResponse } from 'node:http';
import type { Difference } from './differences.ts';

export const TROUBLE_REQUEST_ID = 'Req-7F3A-trouble';

function problem(status: number, more: object, headers: Record<string, string> = {}, type = 'problem+json') {
  const body = { title: 'Trouble', status, request_id: TROUBLE_REQUEST_ID, ...more };
  return (response: ServerResponse) =>
    void response
      .writeHead(status, { 'content-type': `application/${type}`, ...headers })
      .end(JSON.stringify(body));
}

function page(status: number, title: string) {
  return (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'text/html' }).end(`<html><h1>${title}</h1></html>`);
}

/** By the difference that they show. */
export const TROUBLES = {
  'error-code-unknown': problem(500, { code: 'SHARD_MOVED', detail: 'The shard moves.', retryable: true }),
  'error-without-code': (response) =>
    void response
      .writeHead(422, { 'content-type': 'application/problem+json' })
      .end(JSON.stringify({ title: 'That language is not offered.', status: 422 })),
  'error-json-type': problem(
    400,
    { code: 'INVALID_REQUEST', detail: 'No such mode.', errors: [{ pointer: '/mode', detail: 'unknown' }] },
    {},
    'json; charset=UTF-8',
  ),
  'retry-after-date': (response) =>
    problem(
      503,
      { code: 'SERVICE_TEMPORARILY_UNAVAILABLE', detail: 'Soon.', retryable: true },
      {
        'retry-after': new Date(Date.now() + 2_000).toUTCString(),
      },
    )(response),
  'retry-after-none': problem(429, { code: 'RATE_LIMIT_EXCEEDED', detail: 'Too fast.', retryable: true }),
  'in-progress': problem(409, { code: 'IDEMPOTENCY_KEY_IN_PROGRESS', detail: 'Still at work.' }),
  'page-502': page(502, 'Bad Gateway'),
  'page-403': page(403, 'Blocked by the firewall'),
} satisfies Partial<Record<Difference, (response: ServerResponse) => void>>;

export type Trouble = keyof typeof TROUBLES;
