/**
 * The HTTP side of the control interface: its own listener on loopback, with a token. Web pages cannot use it: the Host header is
 * checked (DNS rebinding), requests of browsers are refused, and no CORS header is ever sent.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RegExpRouter } from 'hono/router/reg-exp-router';
import { equalInConstantTime } from '../../protocol/constant-time.ts';
import { systemClock } from '../clock.ts';
import { CallerGone, readBody } from '../http/body.ts';
import { createJsonResponse, type Exchange, type ServiceResponse } from '../http/exchange.ts';
import { answerParseFailure, answerRefusal, Refusal, refuseField } from '../http/refusal.ts';
import { checkSanity, type RequestTarget, refuseForeignHost } from '../http/sanity.ts';
import { readFields } from './fields.ts';
import { HANDLERS } from './handlers.ts';
import { CONTROL_LIST, type NamedOperation, parameterOf } from './operations.ts';
import type { Controlled } from './start.ts';

// See the same line in `server/server.ts`.
const { createServer } = process.getBuiltinModule('node:http');

interface ControlServer {
  /** Scheme, host and port. */
  readonly origin: string;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
/** A list of thousands of faults. */
const BODY_BYTES = 1024 ** 2;
/** Headers that only browsers send; the `fetch` of Node sends Sec-Fetch-Mode too. */
const BROWSER_HEADERS = ['origin', 'sec-fetch-site'];

type Router = (method: string, path: string) => { operation: NamedOperation; id: string } | readonly string[];

/** Starts listening. @param port 0 selects a free one */
export async function startControlServer(
  controlled: Controlled,
  { port, token }: { readonly port: number; readonly token: string },
): Promise<ControlServer> {
  const { context } = controlled;
  const route = createControlRouter();
  const server = createServer();
  server.on('request', (request, response) => {
    const exchange = openExchange(context.makeId('request'), request, response);
    void answer(exchange).then((given) => {
      if (given === null) response.destroy();
      else send(exchange, given);
    });
  });
  server.on('clientError', (error, socket) =>
    answerParseFailure(error, socket, {
      now: Date.now(),
      requestId: context.makeId('request'),
      origin: context.origin(),
    }),
  );

  /** Returns null if the caller disconnected. Never throws. */
  async function answer(exchange: Exchange): Promise<ServiceResponse | null> {
    try {
      const target = checkSanity(exchange.request, context.config.headerPrefix);
      exchange.path = target.path;
      refuseForeignHost(exchange.request, context.origin());
      checkCaller(exchange.request, token);
      return createJsonResponse(200, await carryOut(exchange, target));
    } catch (error) {
      if (error instanceof CallerGone) return null;
      const refusal = error instanceof Refusal ? error : explain(exchange, error);
      return answerRefusal(refusal, exchange, context.origin());
    }
  }

  async function carryOut(exchange: Exchange, target: RequestTarget): Promise<unknown> {
    const { method = '' } = exchange.request;
    const found = route(method, target.path);
    if (!('operation' in found)) throw refuseUnrouted(method, target.path, found);
    const { operation, id } = found;
    const given =
      operation.method === 'GET' ? Object.fromEntries(target.query) : await readObject(exchange, target);
    const fields = readFields(operation.fields, given);
    // The fields were read by the same row of the table, so they are those of this handler.
    const handle = HANDLERS[operation.name] as (call: object) => unknown;
    return handle({ controlled, id, fields });
  }

  function explain({ id: requestId }: Exchange, error: unknown): Refusal {
    context.log({ level: 'error', message: 'a control request failed', requestId, error });
    return new Refusal('INTERNAL_ERROR', `the service failed; its log has the cause under ${requestId}`);
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, HOST, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address() as AddressInfo; // a TCP server has one
  return {
    origin: `http://${HOST}:${address.port}`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function openExchange(id: string, request: IncomingMessage, response: ServerResponse): Exchange {
  return {
    request,
    response,
    id,
    receivedAt: Date.now(),
    address: request.socket.remoteAddress,
    path: '/',
    route: null,
    keyId: null,
    headers: {},
  };
}

/** @throws Refusal for requests of browsers, and without the token */
function checkCaller({ headers }: IncomingMessage, token: string): void {
  const browser = BROWSER_HEADERS.find((name) => headers[name] !== undefined);
  if (browser !== undefined) throw refuseField(browser, 'browsers may not use the control interface');
  const [, given = ''] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  if (equalInConstantTime(given, token)) return;
  throw new Refusal(
    'AUTHENTICATION_FAILED',
    'the Authorization header must be Bearer and the control token, which `vloc serve --control` prints',
    { headers: { 'WWW-Authenticate': 'Bearer' } },
  );
}

const METHODS = [...new Set(CONTROL_LIST.map(({ method }) => method))];

/** Returns the operation of a request, or the methods that the path has. */
function createControlRouter(): Router {
  const router = new RegExpRouter<NamedOperation>();
  for (const operation of CONTROL_LIST) {
    router.add(operation.method, operation.path.replace(/\{(\w+)\}/, ':$1'), operation);
  }
  const find = (method: string, path: string) => {
    const [[first] = [], stash = []] = router.match(method, path);
    if (first === undefined) return null;
    const [operation, indexes] = first;
    const at = indexes[parameterOf(operation) ?? ''];
    const id = typeof at === 'number' ? stash[at] : at;
    return { operation, id: decodeURIComponent(id ?? '') };
  };
  return (method, path) => find(method, path) ?? METHODS.filter((other) => find(other, path) !== null);
}

function refuseUnrouted(method: string, path: string, allowed: readonly string[]): Refusal {
  if (allowed.length === 0) return new Refusal('RESOURCE_NOT_FOUND', `there is nothing at ${path}`);
  const list = allowed.join(', ');
  return new Refusal('METHOD_NOT_ALLOWED', `${path} accepts ${list}, not ${method}`, {
    headers: { Allow: list },
  });
}

const JSON_TYPE = /^application\/json\s*(;|$)/i;

/** The JSON object in a body; empty without a body. */
async function readObject(exchange: Exchange, { query }: RequestTarget): Promise<Record<string, unknown>> {
  const [parameter] = query.keys();
  if (parameter !== undefined) throw refuseField(parameter, 'this operation takes no query parameters');
  const bytes = await readBody(exchange, BODY_BYTES, systemClock);
  if (bytes.length === 0) return {};
  const { 'content-type': type = '' } = exchange.request.headers;
  if (!JSON_TYPE.test(type)) {
    throw new Refusal(
      'UNSUPPORTED_MEDIA_TYPE',
      `the body must be application/json, not "${type.slice(0, 80)}"`,
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw refuseField('', 'the body is not JSON in UTF-8');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refuseField('', 'the body must be a JSON object');
  }
  return { ...value };
}

function send({ request, response, id }: Exchange, { status, headers, body }: ServiceResponse): void {
  const text = typeof body === 'string' ? body : '';
  response.writeHead(status, {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-ID': id,
    ...headers,
    'Content-Length': Buffer.byteLength(text),
    // The rest of a refused body is not read.
    ...(request.complete ? {} : { Connection: 'close' }),
  });
  response.end(request.method === 'HEAD' ? undefined : text);
}
