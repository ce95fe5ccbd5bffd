import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Route } from './route.ts';

/** One request with its answer under way. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** `req_…`, in the answer and in every error. */
  readonly id: string;
  /** ms since 1970 when the head of the request was read. */
  readonly receivedAt: number;
  /** IP address of the caller; undefined when it is not known. */
  readonly address: string | undefined;
  /** Path in canonical form once the target was found sane, `/` before that. */
  path: string;
  /** Where the path leads, once that was found out. */
  route: Route | null;
  /** Public identifier of the key, once the signature was found right. */
  keyId: string | null;
  /** Headers that the steps on the way add to whatever answer comes. */
  readonly headers: Record<string, string>;
}
