/**
 * Signed calls over Node's own HTTP: a call is small and often the only one of a run, and this loads in a third of the
 * time that undici takes. Transfers and calls through a proxy use `http.ts`; docs/decisions/http-clients.md says why.
 */
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import type { Http, HttpRequest, HttpResponse, HttpSettings } from './http.ts';
import { chooseProxy } from './proxy.ts';

// An import would read all that node:http exports, `WebSocket` among it, and so load a good part of undici after all.
const plain = () => process.getBuiltinModule('node:http');
const secure = () => process.getBuiltinModule('node:https');

/** Opens no connection before the first request. */
export function createCallHttp(settings: HttpSettings): Http {
  const agents = new Map<string, Agent>();
  const underWay = new Set<ClientRequest>();
  let tunnels: Promise<Http> | undefined;

  function agentFor(protocol: string): Agent {
    const found =
      agents.get(protocol) ?? new (protocol === 'https:' ? secure() : plain()).Agent({ keepAlive: true });
    agents.set(protocol, found);
    return found;
  }

  function open(outgoing: HttpRequest): ClientRequest {
    const { protocol, hostname, port } = new URL(outgoing.origin);
    const { request } = protocol === 'https:' ? secure() : plain();
    const sending = request({
      agent: agentFor(protocol),
      protocol,
      // An IPv6 address has brackets only in URLs.
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port,
      method: outgoing.method,
      path: outgoing.target,
      headers: { ...outgoing.headers, 'accept-encoding': 'identity', ...lengthHeader(outgoing.body) },
    });
    underWay.add(sending);
    sending.once('close', () => underWay.delete(sending));
    limitConnecting(sending, protocol, settings.connectMs);
    return sending;
  }

  return {
    async send(outgoing) {
      const { proxy } = settings;
      const direct = proxy === undefined || chooseProxy(new URL(outgoing.origin), proxy) === null;
      if (direct) return receive(open(outgoing), outgoing);
      tunnels ??= import('./http.ts').then(({ createHttp }) => createHttp(settings));
      return (await tunnels).send(outgoing);
    },
    async close() {
      for (const request of underWay) request.destroy(withCode('the client was closed', 'ERR_CLIENT_CLOSED'));
      for (const agent of agents.values()) agent.destroy();
      await (await tunnels)?.close();
    },
  };
}

function lengthHeader(body: HttpRequest['body']): Record<string, string> {
  return Buffer.isBuffer(body) ? { 'content-length': String(body.length) } : {};
}

/** The time limit of a call covers all of it; that of the connection is shorter, so that an unreachable host is reported as such. */
function limitConnecting(request: ClientRequest, protocol: string, connectMs: number): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return;
    const giveUp = () => request.destroy(withCode('no connection in time', 'ETIMEDOUT'));
    const timer = setTimeout(giveUp, connectMs);
    socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(timer));
    request.once('close', () => clearTimeout(timer));
  });
}

function receive(request: ClientRequest, { body, signal }: HttpRequest): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    // A response that is being read ends with the same reason.
    let ending: { destroy(error: Error): unknown } = request;
    const abort = () => ending.destroy(asError(signal.reason));
    const stopListening = () => signal.removeEventListener('abort', abort);
    request.once('close', stopListening).once('error', reject);
    request.once('response', (response) => {
      ending = response;
      // The request closes with its response, whose body is read or discarded by then.
      response.once('close', stopListening);
      resolve(describe(response));
    });
    if (signal.aborted) {
      abort();
      return;
    }
    signal.addEventListener('abort', abort);
    request.end(Buffer.isBuffer(body) ? body : undefined);
  });
}

function describe(response: IncomingMessage): HttpResponse {
  const headers: Record<string, string> = {};
  for (const [name, values] of Object.entries(response.headersDistinct)) {
    headers[name] = (values ?? []).join(', ');
  }
  return {
    status: response.statusCode ?? 0,
    headers,
    body: response,
    discard() {
      response.on('error', () => {}).destroy();
    },
  };
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason), { cause: reason });
}

function withCode(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}
