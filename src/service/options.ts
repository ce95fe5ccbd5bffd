import type { Engines } from '../engines/engine.ts';
import type { Failure } from '../errors/failure.ts';
import type { IssuedKey, KeyRules } from './auth/keys.ts';
import type { Clock } from './clock.ts';
import type { ServiceConfig } from './config.ts';
import type { Faults } from './http/faults.ts';
import type { Log, RequestLog } from './log.ts';
import type { RandomBytes } from './random.ts';

export interface ServiceOptions {
  /** Folder of everything the service keeps; several processes may share it. Made with mode 0700 when missing. */
  readonly stateDir: string;
  /** Address to listen on; default `127.0.0.1`. */
  readonly host?: string;
  /** Port to listen on; default 0: a free one. */
  readonly port?: number;
  /** The media work; default: the engines installed on this machine, loaded at their first use. */
  readonly engines?: Engines;
  readonly config?: Partial<ServiceConfig>;
  /** Short for the setting of that name in `config`, and stronger. */
  readonly allowLoopback?: boolean;
  readonly clock?: Clock;
  readonly random?: RandomBytes;
  /**
   * Asked before the first start makes a key: false makes none, and what it throws ends the start with nothing kept. Left
   * out: one is made.
   */
  readonly wantsFirstKey?: () => boolean;
  readonly log?: Log;
  /** Called for every answered request, except successful ones of monitoring. */
  readonly onRequest?: RequestLog;
  /** Addresses and networks of proxies whose `X-Forwarded-For` is believed; default: none. */
  readonly trustedProxies?: readonly string[];
  /** Addresses and networks that may read `/metrics`; omitted: nobody, and nothing is counted. */
  readonly metricsFrom?: readonly string[];
  /** Called each time that a request or job finds damage in the store while the service runs; close it then. */
  readonly onStoreFailure?: (failure: Failure) => void;
  /** Makes the service misbehave on the wire; `scriptFaults` makes it from a list. */
  readonly faults?: Faults;
}

/** A service that listens. */
export interface Service {
  /** Base address of the interface; ends in `/v1`. */
  readonly url: string;
  /** Address of the documents that problems point to. */
  readonly docsUrl: string;
  /** Keys that work, the oldest first; the first start makes one, once it listens. */
  readonly keys: () => readonly IssuedKey[];
  /** The key that this start has made; null when the state folder had one, or none was wanted. */
  readonly newKey: IssuedKey | null;
  issueKey(rules?: KeyRules): IssuedKey;
  /** Takes back a key that nobody has used yet: the next start makes one where it was the first. */
  dropKey(key: string): void;
  /** Replaces all rules of a key. */
  changeKey(key: string, rules: KeyRules): void;
  /** Adds credits to the account; `expiresAt` in ms since 1970; omitted: they do not expire. */
  grantCredits(grant: { credits: number; expiresAt?: number }): void;
  /** Ends requests under way, hands back unfinished jobs, and lets go of everything; may be called again. */
  close(): Promise<void>;
}
