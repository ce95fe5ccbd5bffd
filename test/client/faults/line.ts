/** The line between the command and the service: passes everything on, but for what a fault does at one step. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Certificate } from './certificates.ts';
import { type Exchange, endToEnd, type Forwarded, forwardTo, readWhole } from './exchange.ts';
import { announces, type Step, stepOf } from './steps.ts';

export interface LineOptions {
  readonly service: URL;
  readonly foreignOrigin: string;
  readonly now: () => number;
  /** Left out: plain http. */
  readonly certificate?: Certificate;
}

/** What a fault may do to the line. */
export interface Line {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly seen: { readonly step: Step; readonly headers: IncomingMessage['headers'] }[];
  /** Chooses what is done instead of passing a request on; null passes it on. */
  spoil: (step: Step) => ((exchange: Exchange) => void | Promise<void>) | null;
  /** Awaited before the answer that means that this step is next. */
  ahead: { readonly step: Step; readonly run: () => Promise<void> } | null;
  /** From now on connections are refused. */
  hangUp(): Promise<void>;
  /** Takes connections again, at the same address. */
  pickUp(): Promise<void>;
  /** Shows another certificate to those who connect from now on. */
  show(certificate: Certificate): void;
  close(): Promise<void>;
}

/** Starts a line on a free port. */
export async function startLine(options: LineOptions): Promise<Line> {
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
  const line: Line = {
    origin: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    seen: [],
    spoil: () => null,
    ahead: null,
    // Answers under way go out: only the ear is closed.
    hangUp: async () => void server.close(),
    pickUp: () => (server.listening ? Promise.resolve() : listen(port)),
    show: (other) => 'setSecureContext' in server && server.setSecureContext(other),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const step = stepOf(request.method ?? '', request.url ?? '');
    line.seen.push({ step, headers: request.headers });
    const body = await readWhole(request);
    const own = `${certificate === undefined ? 'http' : 'https'}://${request.headers.host}`;
    const forward = () => forwardTo(service, own, request, body);
    const fault = line.spoil(step);
    if (fault !== null) return fault({ request, response, forward, foreignOrigin, now: now() });
    const answered = await forward();
    if (line.ahead !== null && announces(line.ahead.step, step, statusOf(answered))) {
      const { run } = line.ahead;
      line.ahead = null;
      await run();
    }
    response.writeHead(answered.status, endToEnd(answered, now()));
    response.end(answered.body);
  }

  return line;
}

function statusOf({ body, headers }: Forwarded): unknown {
  return headers['content-type']?.includes('json') ? JSON.parse(body.toString('utf8')).status : null;
}
