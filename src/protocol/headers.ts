/** Header names of client and service. The vendor's name is a setting; `X-Service` is its default. */
export const DEFAULT_HEADER_PREFIX = 'X-Service';

export interface AuthHeaderNames {
  readonly key: string;
  readonly timestamp: string;
  readonly nonce: string;
  readonly signature: string;
}

/** Names of the four signature headers, in lower case as Node reports them. Source: specification, "Authentication" 1. */
export function authHeaderNames(prefix: string = DEFAULT_HEADER_PREFIX): AuthHeaderNames {
  const start = prefix.toLowerCase();
  return {
    key: `${start}-key`,
    timestamp: `${start}-timestamp`,
    nonce: `${start}-nonce`,
    signature: `${start}-signature`,
  };
}

interface WebhookHeaderNames {
  readonly timestamp: string;
  readonly id: string;
  readonly signature: string;
}

/** Names of the three headers of a webhook, in lower case as Node reports them. Source: specification, "Events". */
export function webhookHeaderNames(prefix: string = DEFAULT_HEADER_PREFIX): WebhookHeaderNames {
  const start = `${prefix.toLowerCase()}-webhook`;
  return { timestamp: `${start}-timestamp`, id: `${start}-id`, signature: `${start}-signature` };
}

export const IDEMPOTENCY_KEY = 'idempotency-key';
export const IDEMPOTENCY_REPLAYED = 'idempotency-replayed';
export const CLIENT_REQUEST_ID = 'x-client-request-id';
export const REQUEST_ID = 'x-request-id';

/** Source: specification, "Common headers and parameters". */
export const IDEMPOTENCY_KEY_PATTERN: RegExp = /^[A-Za-z0-9._:-]{1,255}$/;
export const REQUEST_ID_PATTERN: RegExp = /^req_[A-Za-z0-9_-]+$/;

/** Unix seconds. Source: specification, "Events". */
export const WEBHOOK_TIMESTAMP_PATTERN: RegExp = /^[0-9]{10}$/;
/** Source: specification, "Events". */
export const WEBHOOK_ID_PATTERN: RegExp = /^evt_[A-Za-z0-9_-]{16,80}$/;
