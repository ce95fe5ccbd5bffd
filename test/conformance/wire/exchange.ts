/** Sends one request over HTTP or HTTPS exactly as described, and reads the whole answer. */
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** A list of values is sent as one header line per value. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

export interface Outgoing {
  readonly method: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query as in the request line. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: Buffer | null;
}

export interface Incoming {
  readonly method: string;
  readonly target: string;
  readonly status: number;
  /** By lower-case name. Several lines of one name are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  /** The parsed body; undefined if it is not JSON. */
  readonly json: unknown;
}

/** A service that sends nothing for this long counts as dead. */
const SILENCE_MS = 30_000;

const httpAgent = new HttpAgent({ keepAlive: true });
const httpsAgent = new HttpsAgent({ keepAlive: true });
let isFresh = false;

/** From now on each request has a connection of its own, so that a proxy can send each one elsewhere. */
export function useFreshConnections(): void {
  isFresh = true;
}

/** Sends a request and reads the answer. Rejects if the connection breaks before the answer is complete. */
export async function send(outgoing: Outgoing): Promise<Incoming> {
  try {
    return await attempt(outgoing);
  } catch (error) {
    // The server closed an idle connection at the moment it was reused, so the request was never read.
    if (error instanceof StaleConnection) return attempt(outgoing);
    throw error;
  }
}

class StaleConnection extends Error {
  override readonly name = 'StaleConnection';
}

function attempt({ method, origin, target, headers, body }: Outgoing): Promise<Incoming> {
  const { protocol, hostname, port } = new URL(origin);
  const secure = protocol === 'https:';
  const open = secure ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sending = open({
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? undefined : Number(port),
      path: target,
      method,
      headers: copyHeaders(headers, body),
      agent: isFresh ? false : secure ? httpsAgent : httpAgent,
      timeout: SILENCE_MS,
    });
    let answered = false;
    sending.on('response', (response) => {
      answered = true;
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const flat = flattenHeaders(response.headers);
        const json = parseJson(flat['content-type'] ?? '', bytes);
        resolve({ method, target, status: response.statusCode ?? 0, headers: flat, bytes, json });
      });
    });
    sending.on('timeout', () =>
      sending.destroy(new Error(`${method} ${target}: no answer in ${SILENCE_MS} ms`)),
    );
    sending.on('error', (error) => {
      // Sending a refused body may fail after the answer arrived. The answer counts.
      if (answered) return;
      const broken = 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      reject(broken && sending.reusedSocket ? new StaleConnection(error.message) : error);
    });
    sending.end(body ?? undefined);
  });
}

function copyHeaders(headers: Headers, body: Buffer | null): Record<string, string | string[]> {
  const copy: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers))
    copy[name] = typeof value === 'string' ? value : [...value];
  if (body !== null && copy['Content-Length'] === undefined) copy['Content-Length'] = String(body.length);
  return copy;
}

function flattenHeaders(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

function parseJson(contentType: string, bytes: Buffer): unknown {
  if (!/\bjson\b/i.test(contentType)) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
