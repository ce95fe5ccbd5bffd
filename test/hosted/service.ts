/**
 * A service that speaks the specification and differs from the embedded one wherever it leaves something open. Nothing of
 * the project is used here but the list of the differences, so that no mistake of it can be made twice.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Difference } from './differences.ts';
import { createForms } from './forms.ts';
import { answerJobs } from './jobs.ts';
import { sendError, sendJson } from './send.ts';
import { balanceShape, type StoredJob, type StoredUpload, transactionShape, uploadShape } from './shapes.ts';
import { type Account, faultOf } from './signature.ts';
import { giveBytes, takeBytes } from './storage.ts';
import { TROUBLES, type Trouble } from './troubles.ts';

export interface Hosted {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly account: Account;
  readonly requests: { readonly method: string; readonly url: string; readonly body: Buffer }[];
  /** Answered one each to signed requests, instead of the right answer. */
  readonly troubles: Trouble[];
  /** Changes every JSON answer of the API before it is sent. */
  change: (body: Record<string, unknown>) => Record<string, unknown>;
  /** What the next job ends as. */
  endsAs: string;
  readonly jobs: ReadonlyMap<string, StoredJob>;
  close(): Promise<void>;
}

/** What the parts of the service share. */
export interface Desk {
  readonly has: ReturnType<typeof createForms>;
  readonly origin: () => string;
  readonly jobs: Map<string, StoredJob>;
  readonly byKey: Map<string, string>;
  readonly makeId: () => string;
  readonly hosted: Pick<Hosted, 'change' | 'endsAs'>;
}

/** @param used collects the differences that an answer has had */
export async function startHosted(chosen: readonly Difference[], used: Set<Difference>): Promise<Hosted> {
  const has = createForms(chosen, used);
  const prefix = has('header-prefix') ? 'X-Acme' : 'X-Service';
  const account = { prefix, key: 'AK-1', secret: 'hosted-secret-canary' };
  const uploads = new Map<string, StoredUpload>();
  const nonces = new Set<string>();
  let count = 0;
  let origin = '';

  async function handle(request: IncomingMessage, response: ServerResponse) {
    const { method = '', url = '' } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    hosted.requests.push({ method, url, body });
    const [path = '', query = ''] = url.split('?');
    if (path.startsWith('/bucket/')) return takeBytes(has, uploads.get(path.slice(8)), body, response);
    if (!path.startsWith('/v1/')) return giveBytes(has, request, response);
    const fault = faultOf(account, request, body, nonces);
    if (fault !== null) return sendError(response, 401, 'AUTHENTICATION_FAILED', fault);
    has('raw-target-signed');
    const trouble = hosted.troubles.shift();
    if (trouble !== undefined) {
      used.add(trouble);
      return TROUBLES[trouble](response);
    }
    const segments = path.slice('/v1/'.length).split('/').map(decodeURIComponent);
    const fields = body.length === 0 ? {} : JSON.parse(body.toString('utf8'));
    if (segments[0] === 'uploads') return answerUploads(method, segments, fields, response);
    if (path === '/v1/credits') return sendJson(desk, response, 200, balanceShape(has));
    if (path === '/v1/credit-transactions') return sendTransactions(query, response);
    return answerJobs(
      desk,
      { method, segments, query: new URLSearchParams(query), fields, request },
      response,
    );
  }

  function answerUploads(
    method: string,
    [, id, action]: readonly string[],
    fields: Record<string, unknown>,
    response: ServerResponse,
  ) {
    if (method === 'POST' && id === undefined) {
      const upload = { id: desk.makeId(), purpose: fields.purpose, status: 'waiting_for_upload', md5: null };
      uploads.set(upload.id, upload);
      return sendJson(desk, response, 201, uploadShape(has, origin, upload));
    }
    const upload = uploads.get(id ?? '');
    if (upload === undefined) return sendError(response, 404, 'NO_SUCH_THING', 'There is none.');
    if (action !== 'completions') return sendJson(desk, response, 200, uploadShape(has, origin, upload));
    if (String(fields.etag).replaceAll('"', '') !== upload.md5) {
      return sendError(response, 409, 'CHECKSUM_DIFFERS', 'Another checksum.');
    }
    const ready = has('completion-ready') || has('completion-202-ready');
    upload.status = ready ? 'ready' : 'validating';
    sendJson(desk, response, has('completion-ready') ? 200 : 202, uploadShape(has, origin, upload));
    upload.status = 'ready';
  }

  /** Three lines on three pages, one of them empty where pages may be. */
  function sendTransactions(query: string, response: ServerResponse) {
    const cursor = new URLSearchParams(query).get('cursor');
    const at = cursor === null ? 0 : Number(/\d+$/.exec(cursor)?.[0]);
    const data = at === 1 && has('page-empty') ? [] : [transactionShape(has, at)];
    const next = has('cursor-any') ? `a/b+c==&é ${at + 1}` : String(at + 1);
    const more = at < 2;
    sendJson(desk, response, 200, { object: 'list', data, has_more: more, next_cursor: more ? next : null });
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: Error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has one
  origin = `http://127.0.0.1:${port}`;
  const jobs = new Map<string, StoredJob>();
  const hosted: Hosted = {
    baseUrl: `${origin}/v1`,
    account,
    requests: [],
    troubles: [],
    change: (body) => body,
    endsAs: 'succeeded',
    jobs,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const desk: Desk = {
    has,
    origin: () => origin,
    jobs,
    byKey: new Map(),
    hosted,
    makeId() {
      count += 1;
      if (has('ids-uuid')) return randomUUID();
      return has('ids-short') ? `Q-${count}Zx-471` : `thing_0000${count}`;
    },
  };
  return hosted;
}
