/** Requests to a bucket of S3: signed, streamed, and with what their errors mean. */
import type { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import { decodeXML } from 'entities';
import { collectBody, collectStart, type HttpResponse } from '../../base/http.ts';
import { createHttp } from '../../base/http-client.ts';
import { explainNetworkError } from '../../base/network-error.ts';
import { errorCode } from '../../base/system-error.ts';
import type { S3Address } from './s3-address.ts';
import { StorageAway } from './storage.ts';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface BucketRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** Name of an object; empty for the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Created for each try. */
  readonly body?: { readonly bytes: number; readonly sha256: string; readonly open: () => Readable };
  readonly signal?: AbortSignal;
  /** A caller waits for the answer, so that it has less time. */
  readonly isAwaited?: boolean;
  /** True leaves the request unsigned, as a client without credentials sends it. */
  readonly isAnonymous?: boolean;
}

/** An object in a listing. */
interface ListedObject {
  readonly key: string;
  /** ms since 1970. */
  readonly modifiedAt: number;
}

/** The permission of a presigned address. */
interface Presigned {
  readonly method: 'GET' | 'PUT';
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Each must be sent with exactly this value. */
  readonly headers?: Readonly<Record<string, string>>;
  /** From when to when it is valid, in ms since 1970 by the clock of the storage. */
  readonly from: number;
  readonly until: number;
}

export interface Bucket {
  /**
   * Sends a request and returns the answer if it succeeded.
   * @throws BucketRefusal for any other answer, StorageAway without one, the reason of the signal
   */
  send(request: BucketRequest): Promise<HttpResponse>;
  /** The same, with the whole body as text. */
  read(request: BucketRequest): Promise<string>;
  presign(permission: Presigned): Promise<string>;
  /** Returns all objects whose names begin with a text, in the order of their names. */
  list(prefix: string): AsyncIterable<ListedObject>;
  close(): void;
}

/**
 * The storage answered that it does not do this. Whatever is not about one object, such as a right that was withdrawn, counts as
 * being away: jobs wait until an operator has corrected it.
 */
export class BucketRefusal extends StorageAway {
  override readonly name = 'BucketRefusal';
  readonly status: number;
  /** Code of S3, such as `NoSuchKey`; empty if it sent none. */
  readonly code: string;

  constructor(status: number, code: string, said: string) {
    super(`the storage answered ${status}${code === '' ? '' : ` ${code}`}${said === '' ? '' : `: ${said}`}`);
    this.status = status;
    this.code = code;
  }
}

/** A connection on which nothing moves for this long is given up: networks that drop packets do not say so. */
const IDLE_MS = 30_000;
/** The same if a caller waits: with three tries, each up to 1 s longer because undici's clock is coarse, an answer within 20 s. */
const AWAITED_MS = 5000;
/** Enough of an error to read its code. */
const ERROR_BYTES = 8192;
/** A listing of 1,000 objects has about 300 kB. */
const TEXT_BYTES = 4 * 1024 ** 2;

/** Opens a bucket: nothing is sent yet. @param now the clock of this machine, in ms since 1970 */
export function openBucket(address: S3Address, credentials: S3Credentials, now: () => number): Bucket {
  const http = createHttp({ connectMs: AWAITED_MS, idleMs: IDLE_MS, maxSockets: 64 });
  const derivedKeys = new Map<string, ArrayBuffer>();
  const signing = { ...credentials, region: address.region, service: 's3', cache: derivedKeys };

  const urlOf = (base: string, key: string, query: Readonly<Record<string, string>> = {}) => {
    const url = new URL(key === '' && base.endsWith(`/${address.bucket}`) ? base : `${base}/${key}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return withoutPlus(url);
  };

  const sign = async ({ method, body, headers = {} }: BucketRequest, url: string) => {
    const own = body === undefined ? {} : { 'x-amz-content-sha256': body.sha256 };
    const datetime = timeOf(now());
    const signer = new AwsV4Signer({ ...signing, method, url, datetime, headers: { ...headers, ...own } });
    return Object.fromEntries((await signer.sign()).headers);
  };

  const send = async (asked: BucketRequest): Promise<HttpResponse> => {
    const { method, key, query, body, signal } = asked;
    const url = urlOf(address.url, key, query);
    const headers: Record<string, string> =
      asked.isAnonymous === true ? { ...asked.headers } : await sign(asked, url);
    if (body !== undefined) headers['content-length'] = String(body.bytes);
    try {
      const { origin, pathname, search } = new URL(url);
      const answer = await http.send({
        origin,
        target: pathname + search,
        method,
        headers,
        body: body === undefined ? null : readSource(body.open),
        signal,
        idleMs: asked.isAwaited === true ? AWAITED_MS : undefined,
      });
      if (answer.status >= 200 && answer.status < 300) return answer;
      throw await readRefusal(answer, method);
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof SourceFailed ? error.cause : away(error);
    }
  };

  const read = async (asked: BucketRequest) => {
    const answer = await send(asked);
    try {
      return (await collectBody(answer, TEXT_BYTES)).toString('utf8');
    } catch (error) {
      throw away(error);
    }
  };

  return {
    send,
    read,
    async presign({ method, key, query, headers = {}, from, until }) {
      const seconds = String(Math.max(1, Math.round((until - from) / 1000)));
      const url = urlOf(address.publicUrl, key, { ...query, 'X-Amz-Expires': seconds });
      const datetime = timeOf(from);
      const signer = new AwsV4Signer({
        ...signing,
        ...{ method, url, headers, datetime, signQuery: true, allHeaders: true },
      });
      return withoutPlus((await signer.sign()).url);
    },
    async *list(prefix) {
      for (let token: string | null = null; ; ) {
        const query = {
          'list-type': '2',
          prefix,
          ...(token === null ? {} : { 'continuation-token': token }),
        };
        const page = await read({ method: 'GET', key: '', query });
        yield* readListing(page);
        token = elementOf(page, 'IsTruncated') === 'true' ? elementOf(page, 'NextContinuationToken') : null;
        if (token === null || token === '') return;
      }
    },
    close: () => void http.close(),
  };
}

/** The file to send cannot be read; `cause` says why. It is not the fault of the storage. */
class SourceFailed extends Error {
  override readonly name = 'SourceFailed';
}

/** Errors of the file, told apart from those of the connection that it is sent over. */
async function* readSource(open: () => Readable): AsyncGenerator<Buffer> {
  try {
    yield* open();
  } catch (cause) {
    throw new SourceFailed('the file cannot be read', { cause });
  }
}

async function readRefusal(answer: HttpResponse, method: BucketRequest['method']): Promise<BucketRefusal> {
  const { status } = answer;
  // Also ends a body that is still being sent.
  const text = (await collectStart(answer, ERROR_BYTES)).toString('utf8');
  // This answer has no body. It is the same if the whole bucket is missing.
  if (method === 'HEAD' && status === 404) return new BucketRefusal(status, 'NoSuchKey', '');
  const said = elementOf(text, 'Message')
    .replaceAll(/[^\x20-\x7e]+/g, ' ')
    .slice(0, 200);
  return new BucketRefusal(status, elementOf(text, 'Code'), said);
}

function away(error: unknown): StorageAway {
  if (error instanceof StorageAway) return error;
  const why =
    errorCode(error) === '' && error instanceof Error
      ? error.message
      : `it ${explainNetworkError(error).what}`;
  return new StorageAway(`the storage cannot be reached: ${why}`, { cause: error });
}

/** A time as signatures have it: 20261123T064806Z. */
function timeOf(ms: number): string {
  return new Date(ms).toISOString().replaceAll(/[:-]|\.\d{3}/g, '');
}

/** A space as `%20`: servers disagree on `+`. */
function withoutPlus({ href }: URL): string {
  return href.replaceAll('+', '%20');
}

function readListing(page: string): ListedObject[] {
  const found = page.matchAll(/<Contents>(.*?)<\/Contents>/gs);
  return Array.from(found, ([, text = '']) => ({
    key: elementOf(text, 'Key'),
    modifiedAt: Date.parse(elementOf(text, 'LastModified')),
  }));
}

/** The text of the first element of that name; empty if there is none. */
function elementOf(xml: string, name: string): string {
  return decodeXML(new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '');
}
