/** What the parts of one running service share. */
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

/** What one part tells another within the process; other processes find out by looking at the store. */
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
  /** For what a request changes in the store. */
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
  /** A new id, made for the present moment. */
  readonly makeId: (subject: IdSubject) => string;
  /** Loaded at the first use, since most commands never need them. */
  readonly engines: () => Promise<Engines>;
  /** Scheme and host of the service as its callers see it, without a slash at the end. */
  readonly origin: () => string;
}
