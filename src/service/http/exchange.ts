/** A request under way, and what a handler returns for it; the server alone writes to the socket. */
import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Route } from './router.ts';

/** One request with its answer under way. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** `req_…`, part of the answer and of every error. */
  readonly id: string;
  /** ms since 1970 when the head of the request was read. */
  readonly receivedAt: number;
  /** IP address of the caller; undefined if unknown. */
  readonly address: string | undefined;
  /** Path in canonical form once the target was checked, `/` before that. */
  path: string;
  /** The route of the path, once it is found. */
  route: Route | null;
  /** Public identifier of the key, once its signature is verified. */
  keyId: string | null;
  /** Headers to add to any answer. */
  readonly headers: Record<string, string>;
}

/** A part of an open file; the sender closes it. */
export interface FileSlice {
  readonly handle: FileHandle;
  readonly start: number;
  readonly length: number;
}

export interface ServiceResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FileSlice | null;
  /** Bytes of the body after which the connection is cut, at least 1; set by scripted faults only. */
  readonly cutAfter?: number;
}

/** An answer with a JSON body. */
export function json(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): ServiceResponse {
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(value),
  };
}
