/** Events of the client, for `--verbose` and for lines such as "waiting 30 s as the service asked". */

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
