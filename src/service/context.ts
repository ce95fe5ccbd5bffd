/** The objects that the parts of a running service share. */
import type { EventEmitter } from 'node:events';
import type { Engines } from '../engines/engine.ts';
import type { IdSubject } from '../protocol/id-prefixes.ts';
import type { KeyRing } from './auth/keys.ts';
import type { NonceMemory } from './auth/nonces.ts';
import type { RateLimiter } from './auth/rate.ts';
import type { Clock } from './clock.ts';
import type { ServiceConfig } from './config.ts';
import type { Folders } from './folders.ts';
import type { RecentRows } from './jobs/rows.ts';
import type { LinkSigner } from './links.ts';
import type { CursorSealer } from './lists/cursor.ts';
import type { Log } from './log.ts';
import type { RandomBytes } from './random.ts';
import type { CommitTogether } from './store/commit-together.ts';
import type { Store } from './store/store.ts';

/** Messages between parts within one process. Other processes detect changes by polling the store. */
export interface Signals {
  jobQueued: [];
  jobCancelled: [id: string];
  uploadCompleted: [];
}

export interface ServiceContext {
  readonly clock: Clock;
  readonly config: ServiceConfig;
  readonly folders: Folders;
  readonly store: Store;
  /** For changes to the store by a request. */
  readonly commitTogether: CommitTogether;
  readonly recentRows: RecentRows;
  readonly keys: KeyRing;
  readonly nonces: NonceMemory;
  readonly rate: RateLimiter;
  readonly links: LinkSigner;
  readonly cursors: CursorSealer;
  readonly randomBytes: RandomBytes;
  readonly log: Log;
  readonly signals: EventEmitter<Signals>;
  /** Returns a new id for the current time. */
  readonly makeId: (subject: IdSubject) => string;
  /** Loaded at first use, because most commands never need them. */
  readonly engines: () => Promise<Engines>;
  /** Scheme and host of the service as seen by callers, without a trailing slash. */
  readonly origin: () => string;
}
