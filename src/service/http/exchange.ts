/** A request in progress and the answer that its handler returns. Only the server writes to the socket. */
import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Route } from './router.ts';

/** One request in progress. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** `req_…`, included in the answer and in every error. */
  readonly id: string;
  /** ms since 1970 when the head of the request was read. */
  readonly receivedAt: number;
  /** IP address of the caller; undefined if unknown. */
  readonly address: string | undefined;
  /** Path in canonical form after the target was checked, `/` before that. */
  path: string;
  /** The route of the path; null until it is found. */
  route: Route | null;
  /** Public identifier of the key; null until its signature is verified. */
  keyId: string | null;
  /** Headers to add to any answer. */
  readonly headers: Record<string, string>;
}

/** A part of an open file. The sender closes it. */
export interface FileSlice {
  readonly handle: FileHandle;
  readonly start: number;
  readonly length: number;
}

export interface ServiceResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FileSlice | null;
  /** Number of body bytes after which the connection is closed, at least 1. Set only by scripted faults. */
  readonly cutAfter?: number;
}

/** Creates an answer with a JSON body. */
export function createJsonResponse(
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
