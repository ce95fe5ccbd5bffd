/** The bytes of an upload on their way to storage. Source: contract, "Uploads". */
import { createHash } from 'node:crypto';
import type { UploadTarget } from '../../protocol/resources.ts';
import type { ClientContext } from '../context.ts';
import { Failure } from '../failure.ts';
import { resolveTransferUrl } from '../transport/base-url.ts';
import { collectStart } from '../transport/collect.ts';
import { describeNetworkError } from '../transport/describe-error.ts';
import type { HttpResponse } from '../transport/http.ts';
import { type Outcome, withRetries } from '../transport/retry-loop.ts';
import { startTimeLimit, type TimeLimit } from '../transport/time-limit.ts';
import { readChunks } from './file-chunks.ts';
import { readStorageAnswer } from './put-answer.ts';
import { targetHeaders } from './put-headers.ts';
import type { SourceFile } from './source-file.ts';
import { uploadLapsed } from './upload-lapsed.ts';

export interface StoredFile {
  /** As storage answered; the MD5 of the bytes when it said none. */
  readonly etag: string;
  /** Lower-case hex. */
  readonly sha256: string;
}

export interface PutOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onSent?: ((bytes: number) => void) | undefined;
}

/**
 * Streams a file to its pre-signed address, with constant memory; signs nothing and follows no redirect.
 * @throws Failure; with code UPLOAD_LAPSED when the reservation must be replaced
 */
export async function putFile(
  context: ClientContext,
  target: UploadTarget,
  source: SourceFile,
  options: PutOptions,
): Promise<StoredFile> {
  const url = resolveTransferUrl(context.base, target.url);
  if (url === null) throw unsafeTarget();
  const headers = targetHeaders(target.headers, context.headerPrefix, source.size, context.userAgent);
  return withRetries(context, { signal: options.signal }, (number) =>
    sendOnce({ context, url, headers, source, options, lapsesAt: Date.parse(target.expires_at) }, number),
  );
}

interface Put {
  readonly context: ClientContext;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly source: SourceFile;
  readonly options: PutOptions;
  /** NaN when the service does not tell. */
  readonly lapsesAt: number;
}

async function sendOnce(put: Put, number: number): Promise<Outcome<StoredFile>> {
  const { context, url, headers, source, options } = put;
  const { runtime, clock, emit, timeouts } = context;
  if (clock.now() >= put.lapsesAt)
    return { type: 'failed', failure: uploadLapsed('its time is over'), advice: { type: 'never' } };
  // The rest of the address is as good as a password.
  const shown = `${url.origin}/…`;
  const begun = runtime.now();
  emit({ type: 'request', method: 'PUT', url: shown, attempt: number });
  const http = await context.http();
  const limit = startTimeLimit(timeouts.connectMs + timeouts.idleMs, options.signal);
  try {
    const content = hashingBody(source, limit, timeouts, options);
    const target = url.pathname + url.search;
    const request = { origin: url.origin, target, method: 'PUT', headers, body: content.body };
    const response = await http.send({ ...request, signal: limit.signal });
    const { status } = response;
    emit({
      type: 'response',
      method: 'PUT',
      url: shown,
      status,
      durationMs: runtime.now() - begun,
      requestId: null,
    });
    return await conclude(response, content.digests, clock.now());
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof Failure) return { type: 'failed', failure: error, advice: { type: 'never' } };
    return { type: 'failed', ...describeNetworkError(error, url.host) };
  } finally {
    limit.clear();
  }
}

function hashingBody(
  source: SourceFile,
  limit: TimeLimit,
  timeouts: { idleMs: number; storedMs: number },
  { onSent }: PutOptions,
) {
  const sha256 = createHash('sha256');
  const md5 = createHash('md5');
  async function* body() {
    let sent = 0;
    for await (const chunk of readChunks(source)) {
      sha256.update(chunk);
      md5.update(chunk);
      yield chunk;
      sent += chunk.length;
      limit.restart(sent < source.size ? timeouts.idleMs : timeouts.storedMs);
      onSent?.(sent);
    }
  }
  return { body: body(), digests: () => ({ sha256: sha256.digest('hex'), md5: md5.digest('hex') }) };
}

/** Enough of an error page to find its message. */
const ERROR_PAGE_BYTES = 4096;

async function conclude(
  response: HttpResponse,
  digests: () => { sha256: string; md5: string },
  now: number,
): Promise<Outcome<StoredFile>> {
  const { status, headers } = response;
  const page = await collectStart(response, ERROR_PAGE_BYTES);
  const refused = readStorageAnswer({ status, headers, page }, now);
  if (refused !== null) return refused;
  const { sha256, md5 } = digests();
  return { type: 'done', value: { etag: headers.etag ?? md5, sha256 } };
}

function unsafeTarget(): Failure {
  return new Failure({
    category: 'refused',
    code: 'UPLOAD_ADDRESS_REFUSED',
    message: 'the address that the service gave for the upload is not https',
    advice: 'Nothing was sent there: report it to whoever runs the service.',
  });
}
