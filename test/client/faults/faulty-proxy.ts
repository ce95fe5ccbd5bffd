/** A proxy between the command and the service. Forwards everything except where a fault applies. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Certificate } from '../../support/certificates.ts';
import { type Exchange, endToEnd, type Forwarded, forwardTo, readWhole } from './exchange.ts';
import { announces, type Step, stepOf } from './steps.ts';

export interface ProxyOptions {
  readonly service: URL;
  readonly foreignOrigin: string;
  readonly now: () => number;
  /** Default: plain http. */
  readonly certificate?: Certificate;
}

export interface FaultyProxy {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly seen: { readonly step: Step; readonly headers: IncomingMessage['headers'] }[];
  /** Chooses the fault for a request; null forwards it. */
  faultFor: (step: Step) => ((exchange: Exchange) => void | Promise<void>) | null;
  /** Run before the response after which this step is next. */
  beforeStep: { readonly step: Step; readonly run: () => Promise<void> } | null;
  /** Refuses new connections. */
  stopListening(): Promise<void>;
  /** Accepts connections again, at the same address. */
  resumeListening(): Promise<void>;
  /** Uses another certificate for new connections. */
  useCertificate(certificate: Certificate): void;
  close(): Promise<void>;
}

/** Starts a proxy on a free port. */
export async function startFaultyProxy(options: ProxyOptions): Promise<FaultyProxy> {
  const { service, foreignOrigin, now, certificate } = options;
  const answer = (request: IncomingMessage, response: ServerResponse) =>
    handle(request, response).catch((error: Error) => response.destroy(error));
  const server: Server | TlsServer =
    certificate === undefined ? createServer(answer) : createTlsServer(certificate, answer);
  server.on('clientError', (_error, socket) => socket.destroy());
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  await listen(0);
  const { port } = server.address() as AddressInfo; // a TCP server has one
  const proxy: FaultyProxy = {
    origin: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    seen: [],
    faultFor: () => null,
    beforeStep: null,
    // Responses in progress are still sent: only the listener is closed.
    stopListening: async () => void server.close(),
    resumeListening: () => (server.listening ? Promise.resolve() : listen(port)),
    useCertificate: (other) => 'setSecureContext' in server && server.setSecureContext(other),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const step = stepOf(request.method ?? '', request.url ?? '');
    proxy.seen.push({ step, headers: request.headers });
    const body = await readWhole(request);
    const own = `${certificate === undefined ? 'http' : 'https'}://${request.headers.host}`;
    const forward = () => forwardTo(service, own, request, body);
    const fault = proxy.faultFor(step);
    if (fault !== null) return fault({ request, response, forward, foreignOrigin, now: now() });
    const answered = await forward();
    if (proxy.beforeStep !== null && announces(proxy.beforeStep.step, step, statusOf(answered))) {
      const { run } = proxy.beforeStep;
      proxy.beforeStep = null;
      await run();
    }
    response.writeHead(answered.status, endToEnd(answered, now()));
    response.end(answered.body);
  }

  return proxy;
}

function statusOf({ body, headers }: Forwarded): unknown {
  return headers['content-type']?.includes('json') ? JSON.parse(body.toString('utf8')).status : null;
}
