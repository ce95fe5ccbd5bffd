/** The bytes of an upload on their way to storage. Source: contract, "Uploads". */
import { createHash, type Hash } from 'node:crypto';
import { expiredFailure, Failure, type FailureFacts, refusedFailure } from '../../base/failure.ts';
import { collectStart, type HttpResponse } from '../../base/http.ts';
import { IDEMPOTENCY_KEY } from '../../protocol/headers.ts';
import type { UploadTarget } from '../../protocol/resources.ts';
import type { ClientContext } from '../transport/context.ts';
import { startTimeLimit, type TimeLimit } from '../transport/http.ts';
import { describeNetworkError } from '../transport/network-error.ts';
import { followRedirect } from '../transport/redirect.ts';
import { resolveTransferUrl } from '../transport/request.ts';
import { type AttemptResult, withRetries } from '../transport/retry.ts';
import {
  ERROR_PAGE_BYTES,
  isGatewayPage,
  readStorageRefusal,
  type StorageAnswer,
} from '../transport/storage-refusal.ts';
import { hashFile, readChunks, type SourceFile } from './source-file.ts';

interface StoredUpload {
  /** As storage answered; the MD5 of the bytes when it said none. */
  readonly etag: string;
  /** Lower-case hex; null when it was not asked for. */
  readonly sha256: string | null;
}

interface PutOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onSent?: ((bytes: number) => void) | undefined;
  /** Whether the SHA-256 of the bytes is wanted. */
  readonly hash: boolean;
}

/**
 * Streams a file to its pre-signed address, with constant memory; signs nothing, and follows one redirect.
 * @throws Failure; with code UPLOAD_LAPSED or UPLOAD_BLOCKED when a new reservation may help
 */
export async function putFile(
  context: ClientContext,
  target: UploadTarget,
  source: SourceFile,
  options: PutOptions,
): Promise<StoredUpload> {
  const url = resolveTransferUrl(context.base, target.url);
  if (url === null) throw unsafeTargetFailure();
  const headers = targetHeaders(target.headers, context.headerPrefix, source.size, context.userAgent);
  return withRetries(context, { signal: options.signal }, (number) =>
    sendOnce({ context, url, headers, source, options, expiresAtMs: Date.parse(target.expires_at) }, number),
  );
}

interface Put {
  readonly context: ClientContext;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly source: SourceFile;
  readonly options: PutOptions;
  /** NaN when the service does not state it. */
  readonly expiresAtMs: number;
}

async function sendOnce(put: Put, number: number): Promise<AttemptResult<StoredUpload>> {
  const { context, headers, options } = put;
  const { runtime, clock, emit, timeouts } = context;
  if (clock.now() >= put.expiresAtMs)
    return {
      type: 'failed',
      failure: reservationExpiredFailure('it has expired'),
      advice: { type: 'never' },
    };
  const limit = startTimeLimit(timeouts.connectMs + timeouts.idleMs, options.signal, runtime);
  let url = put.url;
  try {
    for (let isRedirected = false; ; isRedirected = true) {
      // The rest of the address works like a password.
      const shown = { method: 'PUT', url: `${url.origin}/…` };
      const begun = runtime.now();
      emit({ type: 'request', ...shown, attempt: number });
      const hash = options.hash ? createHash('sha256') : null;
      const body = streamBody(put, limit, hash);
      const target = url.pathname + url.search;
      const request = { origin: url.origin, target, method: 'PUT', headers, body };
      const response = await context.http.send({ ...request, signal: limit.signal });
      const { status } = response;
      emit({ type: 'response', ...shown, status, durationMs: runtime.now() - begun, requestId: null });
      if (!REDIRECTS.has(status)) return await conclude(put, response, hash);
      response.discard();
      const next = isRedirected
        ? 'a second redirect follows the first'
        : followRedirect(url, response.headers.location);
      if (typeof next === 'string') throw redirectRefusedFailure(status, next);
      url = next;
      limit.restart(timeouts.connectMs + timeouts.idleMs);
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof Failure) return { type: 'failed', failure: error, advice: { type: 'never' } };
    return { type: 'failed', ...describeNetworkError(error, url.host) };
  } finally {
    limit.clear();
  }
}

/** The others make a GET of a PUT. Source: RFC 9110, 15.4. S3 answers 307 while a new bucket is not known everywhere. */
const REDIRECTS: ReadonlySet<number> = new Set([307, 308]);

function redirectRefusedFailure(status: number, why: string): Failure {
  return refusedFailure(
    'STORAGE_REFUSED',
    `storage did not accept the file (status ${status}: ${why})`,
    'Report it to the operator of the service.',
    { origin: 'storage', blame: 'storage', status, retryable: false },
  );
}

async function* streamBody(
  { context: { timeouts }, source, options }: Put,
  limit: TimeLimit,
  hash: Hash | null,
): AsyncGenerator<Buffer> {
  let sent = 0;
  for await (const chunk of readChunks(source)) {
    hash?.update(chunk);
    yield chunk;
    sent += chunk.length;
    limit.restart(sent < source.size ? timeouts.idleMs : timeouts.storedMs);
    options.onSent?.(sent);
  }
}

async function conclude(
  { context, source, options }: Put,
  response: HttpResponse,
  hash: Hash | null,
): Promise<AttemptResult<StoredUpload>> {
  const { status, headers } = response;
  const page = await collectStart(response, ERROR_PAGE_BYTES);
  const refused = readStorageAnswer({ status, headers, page }, context.clock.now());
  if (refused !== null) return refused;
  const { signal } = options;
  // The service compares the ETag with its own. Few storages return none, so the MD5 is not computed while sending.
  const etag = headers.etag ?? (await hashFile(source, 'md5', signal));
  return { type: 'done', value: { etag, sha256: hash?.digest('hex') ?? null } };
}

function unsafeTargetFailure(): Failure {
  return refusedFailure(
    'UPLOAD_ADDRESS_REFUSED',
    'the address that the service returned for the upload is not https',
    'Nothing was sent there: report it to the operator of the service.',
  );
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** No control characters, above all no line breaks. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Set by the client itself, or about the connection and not the object. */
const OWN = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  'accept-encoding',
  IDEMPOTENCY_KEY,
]);

/**
 * @param given names in lower case
 * @param size of the file in bytes
 * @throws Failure for an invalid header name or value
 */
function targetHeaders(
  given: Readonly<Record<string, string>>,
  headerPrefix: string,
  size: number,
  userAgent: string,
): Record<string, string> {
  const signed = `${headerPrefix.toLowerCase()}-`;
  const headers: Record<string, string> = { 'user-agent': userAgent, 'content-length': String(size) };
  for (const [name, value] of Object.entries(given)) {
    if (!TOKEN.test(name) || !VALUE.test(value)) throw invalidHeaderFailure();
    if (!OWN.has(name) && !name.startsWith(signed)) headers[name] = value;
  }
  return headers;
}

function invalidHeaderFailure(): Failure {
  return refusedFailure(
    'ANSWER_INCOMPLETE',
    'the field `upload_request.headers` of the upload contains a malformed header',
    'Nothing was sent: report it to the operator of the service.',
  );
}

/** Null for success; else the failure, with code UPLOAD_LAPSED or UPLOAD_BLOCKED when a new reservation may help. */
function readStorageAnswer(
  answer: StorageAnswer,
  now: number,
): Extract<AttemptResult<never>, { type: 'failed' }> | null {
  const { status, headers, page } = answer;
  const isSuccess = status >= 200 && status < 300;
  // Storage says little about success; a whole page is that of a login.
  if (isSuccess && !isGatewayPage(headers, page)) return null;
  const { verdict, advice, said, facts, gateway } = readStorageRefusal(answer, now);
  if (gateway !== null) {
    const code = verdict.renew ? 'UPLOAD_BLOCKED' : gateway.code;
    return { type: 'failed', failure: new Failure({ ...gateway, code }), advice };
  }
  if (verdict.renew) return { type: 'failed', failure: reservationExpiredFailure(said, facts), advice };
  const failure = new Failure({
    ...facts,
    code: status === 413 ? 'CONTENT_TOO_LARGE' : 'STORAGE_REFUSED',
    message: `storage did not accept the file (${said})`,
    advice: facts.retryable
      ? 'Run the same command again later.'
      : 'Report it to the operator of the service.',
  });
  return { type: 'failed', failure, advice };
}

/** The failure of a reservation that no longer accepts bytes; the upload is repeated. */
export function reservationExpiredFailure(reason: string, facts: Partial<FailureFacts> = {}): Failure {
  return expiredFailure(
    'UPLOAD_LAPSED',
    `the upload reservation is no longer accepted: ${reason}`,
    'Run the same command again.',
    { ...facts, retryable: true },
  );
}
