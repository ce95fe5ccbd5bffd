/**
 * HTTP for all that vloc calls, over undici. Identity encoding, no redirect, no cookie, no cache, no retry: a request is sent
 * exactly as given, and callers decide about the answer.
 */
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Agent, buildConnector, Dispatcher } from 'undici';
import type { Http, HttpResponse } from './http.ts';
import { orAborted } from './together.ts';

type Undici = typeof import('undici');

export interface HttpSettings {
  /** Until a connection is open, TLS included. Default: 10 s. */
  readonly connectMs?: number | undefined;
  /** As in a request. Default: no limit. */
  readonly idleMs?: number | undefined;
  /** Connections to one origin at the same time. Default: no limit. */
  readonly maxSockets?: number | undefined;
  /**
   * Opens the TCP connection of each request; none is reused. The signal aborts when the client is closed. Default: connections
   * to any address, kept for later requests.
   */
  readonly connect?: ((url: URL, signal: AbortSignal) => Promise<Socket>) | undefined;
  /** Default: requests go directly to their origin. */
  readonly openAgent?: ((undici: Undici, options: Agent.Options) => Dispatcher) | undefined;
}

/** 32 KiB of header lines, twice Node's own limit: some gateways and storage servers send many. */
const MAX_HEADER_BYTES = 32 * 1024;

/** Loads undici, and opens connections, at the first request. */
export function createHttp(settings: HttpSettings): Http {
  const { connect, openAgent = directAgent } = settings;
  const closing = new AbortController();
  let opened: Promise<Dispatcher> | undefined;

  async function open(): Promise<Dispatcher> {
    const undici = await import('undici');
    return openAgent(undici, {
      allowH2: false,
      // A variable could choose an experimental parser, which the build leaves out.
      useMilo: false,
      connections: settings.maxSockets ?? null,
      ...(settings.connectMs === undefined ? {} : { connectTimeout: settings.connectMs }),
      ...(connect === undefined ? {} : { connect: connectorOver(connect, undici, closing.signal) }),
      maxHeaderSize: MAX_HEADER_BYTES,
    });
  }

  return {
    async send({ origin, target, method, headers, body, signal, idleMs = settings.idleMs ?? 0 }) {
      opened ??= open();
      const dispatcher = await opened;
      // undici frees a connection a turn after the end of an answer; until then, another one would be opened.
      await nextTurn();
      signal?.throwIfAborted();
      const sent = dispatcher.request({
        origin,
        path: target,
        method: method as 'GET', // undici knows more methods than its types list
        headers: { ...headers, 'accept-encoding': 'identity' },
        // As a stream, it ends with the request. Of an iterator, undici would take another chunk.
        body: body === null || Buffer.isBuffer(body) ? body : Readable.from(body, { highWaterMark: 1 }),
        signal: signal ?? null,
        headersTimeout: idleMs,
        bodyTimeout: idleMs,
        reset: connect !== undefined,
      });
      try {
        // undici looks at the signal only once there is a connection.
        return describeResponse(await orAborted(sent, signal));
      } catch (error) {
        throw withParserCode(error, 'HPE_INVALID_CONSTANT');
      }
    },
    async close() {
      closing.abort();
      await (await opened)?.destroy();
    },
  };
}

function directAgent({ Agent }: Undici, options: Agent.Options): Dispatcher {
  return new Agent(options);
}

/** Lets undici send over connections that are opened for it, and secure them. */
function connectorOver(
  connect: NonNullable<HttpSettings['connect']>,
  { buildConnector }: Undici,
  signal: AbortSignal,
): buildConnector.connector {
  const secure = buildConnector({ allowH2: false });
  return (options, done) => {
    const { protocol, host, hostname } = options;
    // The name in a certificate has no final dot.
    const name = hostname.replace(/\.$/, '');
    connect(new URL(`${protocol}//${host}`), signal).then(
      (httpSocket) => {
        if (protocol === 'https:') secure({ ...options, host: name, hostname: name, httpSocket }, done);
        else done(null, httpSocket);
      },
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
}

/** Gives an error of undici's parser the code that undici 8 leaves out. */
function withParserCode(error: unknown, code: string): unknown {
  return error instanceof Error && error.name === 'HTTPParserError' ? Object.assign(error, { code }) : error;
}

function describeResponse({ statusCode, headers, body }: Dispatcher.ResponseData): HttpResponse {
  // Comes first, and where nobody reads the answer: most often the connection broke within a chunk.
  body.on('error', (error) => withParserCode(error, 'UND_ERR_SOCKET'));
  return {
    status: statusCode,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value = []]) => [name, [value].flat().join(', ')]),
    ),
    body,
    discard: () => void body.destroy(),
  };
}
