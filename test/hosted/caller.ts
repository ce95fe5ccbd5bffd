/** Asks a hosted-like service with signatures made here, and takes whatever it answers. */
import { type Credentials, signHeaders } from '../service/harness/caller.ts';

interface Said {
  readonly status: number;
  readonly headers: Headers;
  // Whatever the service said: tests look into it freely.
  // biome-ignore lint/suspicious/noExplicitAny: a typed reader here would repeat the code under test
  readonly json: any;
}

export type Ask = (method: string, path: string, body?: unknown, intent?: string) => Promise<Said>;

let intents = 0;

/** @param path from `/v1` on, @param now milliseconds since 1970 */
export function createAsk(baseUrl: string, credentials: Credentials, now: () => number = Date.now): Ask {
  const { origin } = new URL(baseUrl);
  return async (method, path, body, intent = `intent-${++intents}`) => {
    const text = body === undefined ? '' : JSON.stringify(body);
    const response = await fetch(origin + path, {
      method,
      ...(text === '' ? {} : { body: text }),
      headers: {
        ...signHeaders(credentials, { method, path, body: text, nowMs: now() }),
        'content-type': 'application/json',
        ...(method === 'GET' ? {} : { 'idempotency-key': intent }),
      },
    });
    const said = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      json: said === '' ? null : JSON.parse(said),
    };
  };
}
