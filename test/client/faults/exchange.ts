/** Requests and responses that pass the faulty proxy. */
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request as send,
} from 'node:http';

export interface Forwarded {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Forwards the request to the service, and returns the response. */
  forward(): Promise<Forwarded>;
  /** The clock of the service, milliseconds since 1970. */
  readonly now: number;
  /** A host that must not receive any secret. */
  readonly foreignOrigin: string;
}

/** Reads a message whole. */
export async function readWhole(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Forwards a request unchanged; addresses in the response lead through the proxy again. */
export async function forwardTo(
  service: URL,
  own: string,
  request: IncomingMessage,
  body: Buffer,
): Promise<Forwarded> {
  const { method = 'GET', url = '/', headers } = request;
  const answered = await new Promise<IncomingMessage>((resolve, reject) => {
    const { hostname, port } = service;
    const outgoing = send({
      hostname,
      port,
      method,
      path: url,
      headers: { ...headers, connection: 'close' },
    });
    outgoing.on('response', resolve).on('error', reject);
    outgoing.end(body);
  });
  const bytes = await readWhole(answered);
  const isJson = answered.headers['content-type']?.includes('json') === true;
  return {
    status: answered.statusCode ?? 0,
    headers: answered.headers,
    body: isJson ? Buffer.from(bytes.toString('utf8').replaceAll(service.origin, own)) : bytes,
  };
}

const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date']);

/** The headers of an answer, for a connection that exits with it and by the clock of the service. */
export function endToEnd({ headers, body }: Forwarded, now: number): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !HOP_BY_HOP.has(name)) kept[name] = value;
  }
  if (kept['content-length'] !== undefined) kept['content-length'] = String(body.length);
  return { ...kept, date: new Date(now).toUTCString(), connection: 'close' };
}
