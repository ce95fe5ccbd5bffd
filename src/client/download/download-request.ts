/** The unsigned GET of a download, and the redirects that it follows: storage often answers with the address of a mirror. */

import { type Failure, refusedFailure } from '../../base/failure.ts';
import { isLoopback } from '../../protocol/loopback.ts';
import type { ClientContext } from '../context.ts';
import type { Http, HttpResponse } from '../transport/http.ts';
import type { Validator } from './download-answer.ts';

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
  context: ClientContext,
  start: URL,
  request: { from: number; validator: Validator | null; signal: AbortSignal; attempt: number },
): Promise<OpenDownload> {
  const { runtime, emit, userAgent } = context;
  const { from, validator, signal, attempt } = request;
  const headers = {
    accept: '*/*',
    'user-agent': userAgent,
    ...(from === 0 ? {} : { range: `bytes=${from}-` }),
    ...(from === 0 || validator === null ? {} : { 'if-range': validator.value }),
  };
  const begun = runtime.now();
  // The rest of the address is as good as a password.
  const shown = (url: URL) => `${url.origin}/…`;
  const { response, url } = await getFollowing(context.http, start, { headers, signal }, (hop) =>
    emit({ type: 'request', method: 'GET', url: shown(hop), attempt }),
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
  request: { headers: Readonly<Record<string, string>>; signal: AbortSignal },
  onHop: (url: URL) => void,
): Promise<Fetched> {
  let url = start;
  for (let hops = 0; ; hops += 1) {
    onHop(url);
    const target = url.pathname + url.search;
    const response = await http.send({ origin: url.origin, target, method: 'GET', body: null, ...request });
    if (!REDIRECT_STATUSES.has(response.status)) return { response, url };
    response.discard();
    if (hops === MAX_REDIRECTS)
      throw downloadRefusedFailure(`more than ${MAX_REDIRECTS} redirects follow each other`);
    url = nextUrl(url, response.headers.location);
  }
}

function nextUrl(from: URL, location: string | undefined): URL {
  if (location === undefined || !URL.canParse(location, from.href))
    throw downloadRefusedFailure('a redirect has no address');
  const url = new URL(location, from);
  // http is only allowed within one machine; a redirect never turns an https download into a plain one.
  const staysLocal = from.protocol === 'http:' && url.protocol === 'http:' && isLoopback(url);
  if (url.protocol === 'https:' || staysLocal) return url;
  throw downloadRefusedFailure('a redirect leads away from https');
}

function downloadRefusedFailure(why: string): Failure {
  return refusedFailure(
    'DOWNLOAD_REDIRECT_REFUSED',
    `storage did not return the result: ${why}`,
    'Report it to the operator of the service.',
    { origin: 'storage', blame: 'storage', retryable: false },
  );
}
