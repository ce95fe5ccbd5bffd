import type { ClientContext } from '../context.ts';
import type { Http, HttpResponse } from '../transport/http.ts';
import { getFollowing } from './redirects.ts';
import type { Validator } from './validator.ts';

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
  http: Http,
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
  const { response, url } = await getFollowing(http, start, { headers, signal }, (hop) =>
    emit({ type: 'request', method: 'GET', url: shown(hop), attempt }),
  );
  const { status } = response;
  const durationMs = runtime.now() - begun;
  emit({ type: 'response', method: 'GET', url: shown(url), status, durationMs, requestId: null });
  return { response, host: url.host };
}
