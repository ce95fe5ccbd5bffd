/** What a handler gives back; the server alone writes it to the socket. */
import type { FileHandle } from 'node:fs/promises';

/** A part of an open file; whoever sends it closes it. */
export interface FileSlice {
  readonly handle: FileHandle;
  readonly start: number;
  readonly length: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FileSlice | null;
  /** Bytes of the body after which the connection is cut, at least 1; only a scripted fault says so. */
  readonly cutAfter?: number;
}

/** An answer with a JSON body. */
export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(value),
  };
}
