/** Writes the body of a download into the part. */
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Failure, refusedFailure } from '../../base/failure.ts';
import type { Http, HttpResponse } from '../../base/http.ts';
import type { TransferContext } from '../transport/context.ts';
import { type TimeLimit, TimeOver } from '../transport/http.ts';
import { followRedirect } from '../transport/redirect.ts';
import type { Validator } from './download-answer.ts';
import type { PartFile } from './part-file.ts';

/** Collected while the previous batch is written. A quarter of it takes a tenth more time. */
const BATCH_BYTES = 4 * 1024 ** 2;

/** A thousandth of the file: progress bars show no smaller step, and reporting each chunk takes a tenth of the time. */
const REPORT_SHARE = 1 / 1000;

/** Less than this in a whole idle time, and the download would not end before its address expires. */
export const LEAST_BYTES = 16 * 1024;

interface Receiving {
  readonly limit: TimeLimit;
  readonly idleMs: number;
  /** Length of the whole file; null when unknown. More bytes are an error. */
  readonly total: number | null;
  /** Bytes that the disk has for it. */
  readonly room: number;
  onBytes(inPart: number): void;
  /** The failure if more arrives than the disk has space for. */
  noRoom(): Failure;
}

/** Fewer than `LEAST_BYTES` arrived in `ms` milliseconds. */
export class TooSlow extends TimeOver {
  override readonly name = 'TooSlow';
  readonly bytes: number;
  readonly ms: number;

  constructor(bytes: number, ms: number) {
    super('too few bytes in that time');
    this.bytes = bytes;
    this.ms = ms;
  }
}

/** More bytes came than the file has. */
export class TooManyBytes extends Error {
  override readonly name = 'TooManyBytes';
}

/**
 * All received bytes are in the part even when the connection breaks, so that the next attempt continues from there.
 * @throws the error of the line; Failure (`disk`); TooManyBytes
 */
export async function receiveBody(
  body: AsyncIterable<Buffer>,
  part: PartFile,
  { limit, idleMs, total, room, onBytes, noRoom }: Receiving,
): Promise<void> {
  const step = (total ?? 0) * REPORT_SHARE;
  const most = part.length + room;
  let arrived = part.length;
  let reported = arrived;
  let sinceSign = 0;
  limit.reason = () => new TooSlow(sinceSign, idleMs);
  limit.restart(idleMs);
  const count = (chunk: Buffer) => {
    arrived += chunk.length;
    if (total !== null && arrived > total) throw new TooManyBytes('more bytes than the file has');
    if (arrived > most) throw noRoom();
    sinceSign += chunk.length;
    if (sinceSign >= LEAST_BYTES) {
      limit.restart(idleMs);
      sinceSign = 0;
    }
    if (arrived - reported >= step) {
      reported = arrived;
      onBytes(arrived);
    }
  };
  let batch: Buffer[] = [];
  let inBatch = 0;
  let writing: Promise<void> = Promise.resolve();
  /** Begins to write the batch once the one before is written, and waits for that one. */
  const flush = (): Promise<void> => {
    const before = writing;
    const full = batch;
    batch = [];
    inBatch = 0;
    writing = before.then(() => part.append(full));
    // Its failure is thrown at the next flush; until then no handler is attached.
    writing.catch(() => undefined);
    return before;
  };
  // Not an async iteration: its promises for each chunk take a quarter more processor time.
  const sink = new Writable({
    highWaterMark: BATCH_BYTES,
    write(chunk: Buffer, _encoding, done) {
      try {
        count(chunk);
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      batch.push(chunk);
      inBatch += chunk.length;
      if (inBatch < BATCH_BYTES) done();
      else flush().then(() => done(), done);
    },
  });
  try {
    await pipeline(body, sink);
    if (reported < arrived) onBytes(arrived);
  } finally {
    flush().catch(() => undefined);
    await writing;
  }
}

/** An answer with its body still to come. */
export interface OpenDownload {
  readonly response: HttpResponse;
  /** Host that answered in the end. */
  readonly host: string;
}

/**
 * Sends the unsigned GET, with a Range for what is missing.
 * @param from bytes that are there already, of the version that `validator` names
 */
export async function openDownload(
  context: TransferContext,
  start: URL,
  request: {
    from: number;
    validator: Validator | null;
    signal: AbortSignal;
    attempt: number;
    authorization: string | undefined;
  },
): Promise<OpenDownload> {
  const { runtime, emit, userAgent } = context;
  const { from, validator, signal, attempt, authorization } = request;
  const headers = {
    accept: '*/*',
    'user-agent': userAgent,
    ...(from === 0 ? {} : { range: `bytes=${from}-` }),
    ...(from === 0 || validator === null ? {} : { 'if-range': validator.value }),
  };
  const begun = runtime.now();
  // The rest of the address is as good as a password.
  const shown = (url: URL) => `${url.origin}/…`;
  const { response, url } = await getFollowing(
    context.http,
    start,
    { headers, signal, authorization },
    (hop) => emit({ type: 'request', method: 'GET', url: shown(hop), attempt }),
  );
  const { status } = response;
  const durationMs = runtime.now() - begun;
  emit({ type: 'response', method: 'GET', url: shown(url), status, durationMs, requestId: null });
  return { response, host: url.host };
}

/** Source: reliability rules: by hand, https only, at most five. */
const MAX_REDIRECTS = 5;
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

interface Fetched {
  readonly response: HttpResponse;
  /** Where the answer came from in the end. */
  readonly url: URL;
}

/**
 * @param onHop called with every address before it is requested
 * @throws Failure for a redirect that leaves https (or, begun there, this machine), has no address, or the sixth
 */
async function getFollowing(
  http: Http,
  start: URL,
  {
    headers,
    signal,
    authorization,
  }: {
    headers: Readonly<Record<string, string>>;
    signal: AbortSignal;
    authorization: string | undefined;
  },
  onHop: (url: URL) => void,
): Promise<Fetched> {
  let url = start;
  for (let hops = 0; ; hops += 1) {
    onHop(url);
    const target = url.pathname + url.search;
    const isTrusted = authorization !== undefined && url.origin === start.origin;
    const response = await http.send({
      origin: url.origin,
      target,
      method: 'GET',
      headers: isTrusted ? { ...headers, authorization } : headers,
      body: null,
      signal,
    });
    if (!REDIRECT_STATUSES.has(response.status)) return { response, url };
    response.discard();
    if (hops === MAX_REDIRECTS)
      throw downloadRefusedFailure(`more than ${MAX_REDIRECTS} redirects follow each other`);
    const next = followRedirect(url, response.headers.location);
    if (typeof next === 'string') throw downloadRefusedFailure(next);
    url = next;
  }
}

function downloadRefusedFailure(why: string): Failure {
  return refusedFailure(
    'DOWNLOAD_REDIRECT_REFUSED',
    `storage did not return the result: ${why}`,
    'Report it to the operator of the service.',
    { origin: 'storage', blame: 'storage', retryable: false },
  );
}
