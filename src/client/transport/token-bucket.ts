/**
 * The budget of retries that all calls of one client share: when a service is down for everybody, a thousand calls must
 * not become five thousand. Figures after the AWS SDKs.
 */

/** Fifty retries in a row without a success between them. */
export const BUCKET_CAPACITY = 500;
export const RETRY_COST = 10;
/** A throttled call was answered quickly and politely: trying again costs the service less. */
export const THROTTLED_RETRY_COST = 5;
/** What a call that needed no retry puts back. */
const FIRST_TIME_REFUND = 1;

export interface TokenBucket {
  /** Takes the tokens of one retry, or none and returns false when there are too few. */
  take(cost: number): boolean;
  /** After a success: the cost of the last retry comes back, or a little when there was none. */
  refund(cost: number): void;
  readonly tokens: number;
}

/** A full bucket. */
export function createTokenBucket(capacity: number = BUCKET_CAPACITY): TokenBucket {
  let tokens = capacity;
  return {
    take(cost) {
      if (tokens < cost) return false;
      tokens -= cost;
      return true;
    },
    refund(cost) {
      tokens = Math.min(capacity, tokens + Math.max(cost, FIRST_TIME_REFUND));
    },
    get tokens() {
      return tokens;
    },
  };
}
