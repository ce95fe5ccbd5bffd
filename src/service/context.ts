/** The objects that the parts of a running service share, and the input of handlers: a call, authenticated and parsed. */

import type { EventEmitter } from 'node:events';
import type { Capabilities, Engines } from '../engines/engine.ts';
import type { IdSubject } from '../protocol/id-prefixes.ts';
import type { JobKind } from '../protocol/kind-names.ts';
import type { Operation } from '../protocol/operations.ts';
import type { Role } from '../protocol/roles.ts';
import type { KeyRow } from './auth/keys.ts';
import type { NonceMemory } from './auth/nonces.ts';
import type { RateLimiter } from './auth/rate.ts';
import type { Clock } from './clock.ts';
import type { ServiceConfig } from './config.ts';
import type { CursorSealer } from './cursors.ts';
import type { Folders } from './folders.ts';
import type { ServiceResponse } from './http/exchange.ts';
import type { Log } from './log.ts';
import type { RandomBytes } from './random.ts';
import type { StageCache } from './stages/stage-cache.ts';
import type { LinkSigner } from './storage/links.ts';
import type { Scratch } from './storage/scratch.ts';
import type { ServiceStorage } from './storage/storage.ts';
import type { CommitTogether } from './store/commit-together.ts';
import type { Store } from './store/store.ts';

/** Messages between parts within one process. Other processes detect changes by polling the store. */
export interface Signals {
  jobQueued: [];
  jobCancelled: [id: string];
  uploadCompleted: [];
  webhookDue: [];
}

/** Set when the work of the process begins. */
interface Activity {
  /** Name of this process in leases. */
  node: string;
  jobs: () => { readonly running: number; readonly takenOver: number; readonly hasRoom: boolean };
  /** `closing`: no new job is begun, and callers should send their requests to other nodes. */
  state: 'starting' | 'running' | 'closing';
  /** When the others were last told that this node is alive, by their clock; null before that, and without others. */
  announcedAt: number | null;
  /** Capabilities of its engines; null if that is not known, and for a node that carries out no jobs. */
  capabilities: () => Capabilities | null;
}

export interface ServiceContext {
  readonly clock: Clock;
  readonly config: ServiceConfig;
  readonly folders: Folders;
  readonly store: Store;
  /** Uploads and results. */
  readonly storage: ServiceStorage;
  /** Room for work on this machine. */
  readonly scratch: Scratch;
  /** Role of this process. */
  readonly role: Role;
  /** Whether the account is in a database, so that nodes with other roles and engines may share it. */
  readonly isShared: boolean;
  /** Current work of this process. */
  readonly activity: Activity;
  /** For changes to the store by a request. */
  readonly commitTogether: CommitTogether;
  readonly stages: StageCache;
  readonly nonces: NonceMemory;
  readonly rate: RateLimiter;
  readonly links: LinkSigner;
  readonly cursors: CursorSealer;
  readonly randomBytes: RandomBytes;
  readonly log: Log;
  /** See `ServiceOptions`. */
  readonly onStuck: (error: unknown) => void;
  readonly signals: EventEmitter<Signals>;
  /** Returns a new id for the current time. */
  readonly makeId: (subject: IdSubject) => string;
  /** Loaded at first use, because most commands never need them. */
  readonly engines: () => Promise<Engines>;
  /** Ends what the engines keep between jobs; does nothing if they were never loaded. Never throws. */
  readonly closeEngines: () => Promise<void>;
  /** Scheme and host of the service as seen by callers, without a trailing slash. */
  readonly origin: () => string;
}

export interface OperationCall {
  readonly operation: Operation;
  readonly key: KeyRow;
  /** In canonical form, with the version prefix. */
  readonly path: string;
  /** Id in the path; empty for a collection. */
  readonly resourceId: string;
  readonly query: ReadonlyMap<string, string>;
  /** Parsed JSON of a POST, else undefined. */
  readonly body: unknown;
  /** Empty for a GET. */
  readonly idempotencyKey: string;
  /** ms since 1970. */
  readonly now: number;
}

export type Handler = (context: ServiceContext, call: OperationCall) => Promise<ServiceResponse>;

/** The kind of a job operation. */
export function kindOf(call: OperationCall): JobKind {
  const { kind, operationId } = call.operation;
  if (kind === null) throw new Error(`${operationId} is not an operation of a job kind`);
  return kind;
}
