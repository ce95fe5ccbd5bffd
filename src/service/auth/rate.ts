/** Limits the request rate of each key. Header fields: IETF draft "RateLimit header fields for HTTP". */
import { Refusal } from '../http/refusal.ts';

interface RateRule {
  readonly requests: number;
  readonly windowSeconds: number;
}

export interface RateLimiter {
  /**
   * Counts one request and returns the headers that show the remaining requests.
   * @throws Refusal RATE_LIMIT_EXCEEDED with Retry-After
   */
  take(keyId: string, now: number): Record<string, string>;
  /** Sets the rule of one key and starts a new window, until the service ends. Null: the rule of all keys. */
  setRule(keyId: string, rule: RateRule | null): void;
  /** The own rule of a key; null if it has none. */
  ruleOf(keyId: string): RateRule | null;
}

interface Window {
  readonly endsAt: number;
  used: number;
}

/** Counts in windows that begin with a key's first request. Memory is bounded by the number of keys. */
export function createRateLimiter(common: RateRule): RateLimiter {
  const windows = new Map<string, Window>();
  const own = new Map<string, RateRule>();
  return {
    take(keyId, now) {
      const rule = own.get(keyId) ?? common;
      let window = windows.get(keyId);
      if (window === undefined || window.endsAt <= now) {
        window = { endsAt: now + rule.windowSeconds * 1000, used: 0 };
        windows.set(keyId, window);
      }
      window.used += 1;
      const seconds = Math.ceil((window.endsAt - now) / 1000);
      const left = Math.max(0, rule.requests - window.used);
      const headers = {
        'RateLimit-Policy': `"requests";q=${rule.requests};w=${rule.windowSeconds}`,
        RateLimit: `"requests";r=${left};t=${seconds}`,
      };
      if (window.used > rule.requests) {
        throw new Refusal(
          'RATE_LIMIT_EXCEEDED',
          `more than ${rule.requests} requests in ${rule.windowSeconds} s; the next window opens in ${seconds} s`,
          { headers: { ...headers, 'Retry-After': String(seconds) } },
        );
      }
      return headers;
    },
    setRule(keyId, rule) {
      windows.delete(keyId);
      if (rule === null) own.delete(keyId);
      else own.set(keyId, rule);
    },
    ruleOf: (keyId) => own.get(keyId) ?? null,
  };
}
