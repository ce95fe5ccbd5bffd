/** What all parts of one client share. */

import type { Emit } from './events.ts';
import type { Runtime } from './runtime.ts';
import type { BaseUrl } from './transport/base-url.ts';
import type { Http } from './transport/http.ts';
import type { Credentials } from './transport/sign.ts';
import type { Clock } from './transport/skew.ts';
import type { Timeouts } from './transport/timeouts.ts';
import type { TokenBucket } from './transport/token-bucket.ts';

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
  /** For signed calls; loaded at its first use, since many commands never send anything. */
  readonly http: () => Promise<Http>;
  /** For bodies that stream; loaded at its first use, since many commands transfer nothing. */
  readonly transfers: () => Promise<Http>;
  readonly close: () => Promise<void>;
}
