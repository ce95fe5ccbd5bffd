/** Limits the request rate of each key. Header fields: IETF draft "RateLimit header fields for HTTP". */
import { Refusal } from '../http/refusal.ts';
import type { Store } from '../store/store.ts';

interface RateRule {
  readonly requests: number;
  readonly windowSeconds: number;
}

export interface RateLimiter {
  /**
   * Counts one request and returns the headers that show the remaining requests.
   * @throws Refusal RATE_LIMIT_EXCEEDED with Retry-After
   */
  take(keyId: string, now: number): Promise<Record<string, string>>;
  /** Sets the rule of one key and starts a new window, until the service ends. Null: the rule of all keys. */
  setRule(keyId: string, rule: RateRule | null): void;
  /** The own rule of a key; null if it has none. */
  ruleOf(keyId: string): RateRule | null;
}

/** The requests of a key in its current window, this one included. */
interface Count {
  /** ms since 1970. */
  readonly endsAt: number;
  readonly used: number;
}

/** Counts a request. A window begins with the first request after the end of the one before. */
type CountRequest = (keyId: string, now: number, windowMs: number) => Count | Promise<Count>;

/**
 * Creates the limiter of a service.
 * @param count `createCounter()`, or for several nodes `createSharedCounter(store)`
 */
export function createRateLimiter(common: RateRule, count: CountRequest = createCounter()): RateLimiter {
  const own = new Map<string, RateRule>();
  /** Counts under another name after each change of a rule: a new window. */
  const changes = new Map<string, number>();
  const setRule = (keyId: string, rule: RateRule | null) => {
    changes.set(keyId, (changes.get(keyId) ?? 0) + 1);
    if (rule === null) own.delete(keyId);
    else own.set(keyId, rule);
  };
  return {
    async take(keyId, now) {
      const rule = own.get(keyId) ?? common;
      const change = changes.get(keyId);
      const name = change === undefined ? keyId : `${keyId} ${change}`;
      const { endsAt, used } = await count(name, now, rule.windowSeconds * 1000);
      const seconds = Math.ceil((endsAt - now) / 1000);
      const left = Math.max(0, rule.requests - used);
      const headers = {
        'RateLimit-Policy': `"requests";q=${rule.requests};w=${rule.windowSeconds}`,
        RateLimit: `"requests";r=${left};t=${seconds}`,
      };
      if (used > rule.requests) {
        throw new Refusal(
          'RATE_LIMIT_EXCEEDED',
          `more than ${rule.requests} requests in ${rule.windowSeconds} s; the next window opens in ${seconds} s`,
          { headers: { ...headers, 'Retry-After': String(seconds) } },
        );
      }
      return headers;
    },
    setRule,
    ruleOf: (keyId) => own.get(keyId) ?? null,
  };
}

/** Counts in memory, which is bounded by the number of keys. */
function createCounter(): CountRequest {
  const windows = new Map<string, Count>();
  return (name, now, windowMs) => {
    const window = windows.get(name);
    const isOpen = window !== undefined && window.endsAt > now;
    const count = isOpen ? { ...window, used: window.used + 1 } : { endsAt: now + windowMs, used: 1 };
    windows.set(name, count);
    return count;
  };
}

const COUNT = `
INSERT INTO rates (name, ends_at, used) VALUES (?1, CAST(?2 AS BIGINT) + ?3, 1)
ON CONFLICT (name) DO UPDATE SET
  used = CASE WHEN rates.ends_at <= ?2 THEN 1 ELSE rates.used + 1 END,
  ends_at = CASE WHEN rates.ends_at <= ?2 THEN CAST(?2 AS BIGINT) + ?3 ELSE rates.ends_at END
RETURNING ends_at AS "endsAt", used`;

/** Counts in the database, exactly for all nodes. */
export function createSharedCounter(store: Store): CountRequest {
  return async (name, now, windowMs) => {
    const count = await store.get<Count>(COUNT, name, now, windowMs);
    if (count === undefined) throw new Error('a request was not counted');
    return count;
  };
}
