/** What all parts of one client share. */
import type { BaseUrl } from './base-url.ts';
import type { Emit } from './events.ts';
import type { Http } from './http.ts';
import type { Runtime } from './runtime.ts';
import type { Credentials } from './sign.ts';
import type { Clock } from './skew.ts';
import type { Timeouts } from './timeouts.ts';
import type { TokenBucket } from './token-bucket.ts';

export interface ClientContext {
  readonly base: BaseUrl;
  readonly credentials: Credentials;
  readonly headerPrefix: string;
  readonly userAgent: string;
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly bucket: TokenBucket;
  readonly maxWaitMs: number;
  readonly timeouts: Timeouts;
  readonly emit: Emit;
  /** Loads the HTTP part at its first use, since many commands never send anything. */
  readonly http: () => Promise<Http>;
  readonly close: () => Promise<void>;
}
