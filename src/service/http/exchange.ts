import type { IncomingMessage, ServerResponse } from 'node:http';

/** One request with its answer under way. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** `req_…`, in the answer and in every error. */
  readonly id: string;
  /** ms since 1970 when the head of the request was read. */
  readonly receivedAt: number;
  /** Path in canonical form once the target was found sane, `/` before that. */
  path: string;
  /** Headers that the steps on the way add to whatever answer comes. */
  readonly headers: Record<string, string>;
}
