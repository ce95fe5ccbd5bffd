/** The input and output of a signed call. */

export type QueryValue = string | number | undefined;

export interface CallOptions {
  /** 1 to 255 characters; a fresh one is made when it is missing. Reads take none. */
  readonly idempotencyKey?: string | undefined;
  /** When aborted, the call rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /** Instant in milliseconds since the epoch: nothing is sent and nothing is waited for beyond it. */
  readonly deadline?: number | undefined;
  /** False: CONCURRENCY_LIMIT_EXCEEDED is thrown immediately, for a caller with its own queue. */
  readonly waitForSlot?: boolean | undefined;
}

export interface Call extends CallOptions {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'PUT' | 'PATCH';
  /** Below the version prefix or with it: `/credits` and `/v1/credits` are the same; may carry a query. */
  readonly path: string;
  /** Added to the query of the path; an undefined value is omitted. */
  readonly query?: Readonly<Record<string, QueryValue>> | undefined;
  /** A JSON value, or the bytes of one, sent as they are. */
  readonly body?: unknown;
  /** Further headers, such as X-Client-Request-ID; those that the client sets itself are refused. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface ApiResponse {
  readonly status: number;
  /** The parsed JSON, null when there was none. */
  readonly body: unknown;
  readonly requestId: string | null;
  /** True when the resource was made by an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean;
  /** Names in lower case; repeated ones joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Nothing in an event is secret: no signature, no key, no body, and of pre-signed addresses the origin only.
 * Durations in milliseconds.
 */
export type ClientEvent =
  | {
      readonly type: 'request';
      readonly method: string;
      readonly url: string;
      /** From 1; the same call sent again has the next number. */
      readonly attempt: number;
      readonly idempotencyKey?: string;
    }
  | {
      readonly type: 'response';
      readonly method: string;
      readonly url: string;
      readonly status: number;
      readonly durationMs: number;
      readonly requestId: string | null;
    }
  | {
      readonly type: 'retry';
      /** Code and message of the failure that is not final. */
      readonly code: string;
      readonly message: string;
      readonly waitMs: number;
      /** True when the service asked for this wait (Retry-After). */
      readonly asked: boolean;
    }
  | {
      readonly type: 'skew';
      /** How far this machine's clock is ahead of the service's (negative: behind). */
      readonly seconds: number;
    }
  | {
      readonly type: 'notice';
      readonly code:
        | 'UPLOAD_REPLACED'
        | 'POLL_FAILED'
        | 'STATUS_UNKNOWN'
        | 'LINK_REFRESHED'
        | 'DOWNLOAD_RESTARTED';
      readonly message: string;
    };

export type Emit = (event: ClientEvent) => void;
