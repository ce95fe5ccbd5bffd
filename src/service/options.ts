import type { Failure } from '../base/failure.ts';
import type { Engines } from '../engines/engine.ts';
import type { Optional } from '../protocol/defaults.ts';
import type { Provenance } from '../protocol/provenance.ts';
import type { Role } from '../protocol/roles.ts';
import type { IssuedKey, KeyRules } from './auth/keys.ts';
import type { Clock } from './clock.ts';
import type { ServiceConfig } from './config.ts';
import type { Faults } from './http/faults.ts';
import type { Log, RequestLog } from './log.ts';
import type { RandomBytes } from './random.ts';

/** Where the control interface listens. Here, so that the types of the package need no types of its schemas. */
interface ControlAddress {
  /** Scheme, host and port. */
  readonly url: string;
  /** Sent with every request as `Authorization: Bearer`. */
  readonly token: string;
}

export interface ServiceOptions {
  /** Folder of all data of the service. Several processes may share it. Created with mode 0700 if missing. */
  readonly stateDir: string;
  /**
   * `postgres://user@host/database`: keeps the account there instead of in the state folder, so that several nodes share it.
   * Without `storage`, uploads and results stay in the folder, which the nodes must share too.
   */
  readonly database?: string | undefined;
  /**
   * Role of this process: `api` answers requests, `worker` carries out jobs and opens no port, `all` does both. Other roles
   * than `all` need a database. Default: `all`.
   */
  readonly role?: Role | undefined;
  /**
   * `s3://BUCKET?endpoint=URL&region=REGION`: keeps uploads and results there instead of in the state folder, together with
   * `database`. Each node then has a state folder of its own.
   */
  readonly storage?: string | undefined;
  /** Variables with the credentials of `storage`: `AWS_ACCESS_KEY_ID` and so on. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Address to listen on. Default: `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Port to listen on. Default: 0, a free port. */
  readonly port?: number | undefined;
  /**
   * The media work. Closed with the service, which ends loaded models. Default: the engines installed on this machine,
   * loaded at first use.
   */
  readonly engines?: Engines | undefined;
  readonly config?: Optional<ServiceConfig> | undefined;
  /** Overrides the setting of that name in `config`. */
  readonly allowLoopback?: boolean | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: RandomBytes | undefined;
  /**
   * Called before the first start creates a key: returning false creates none, and throwing stops the start without
   * storing anything. Default: a key is created.
   */
  readonly wantsFirstKey?: (() => boolean) | undefined;
  readonly log?: Log | undefined;
  /** Called for every answered request, except successful monitoring requests. */
  readonly onRequest?: RequestLog | undefined;
  /** Addresses and networks of proxies whose `X-Forwarded-For` is trusted. Default: none. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** Addresses and networks that may read `/metrics`. Default: none, and nothing is counted. */
  readonly metricsFrom?: readonly string[] | undefined;
  /** Port of the health and metrics of a worker, 0 for a free one. Default: a worker opens no port. */
  readonly metricsPort?: number | undefined;
  /** Address to listen on for `metricsPort`. Default: `127.0.0.1`. */
  readonly metricsHost?: string | undefined;
  /** How long `drain` lets running jobs finish. Default: 0. */
  readonly drainMs?: number | undefined;
  /** How long `drain` answers requests while `/readyz` is 503. Default: 0. */
  readonly shutdownDelayMs?: number | undefined;
  /**
   * Called when this start has upgraded the tables of an older version; the message names the copy that was made before.
   * Default: it is logged.
   */
  readonly onUpgrade?: ((message: string) => void) | undefined;
  /** Called each time a request or job finds damage in the store while the service runs. Close the service then. */
  readonly onStoreFailure?: ((failure: Failure) => void) | undefined;
  /**
   * Called with an error that has kept work on jobs, uploads or webhooks from going on three times in a row. They may wait for ever: for a
   * service that lives no longer than a caller who waits for it. Default: none, and the work is tried again until it can be done.
   */
  readonly onStuck?: ((error: unknown) => void) | undefined;
  /** Simulates faults on the network. `scriptFaults` creates them from a list. */
  readonly faults?: Faults | undefined;
  /**
   * Starts the control interface for tests on another port of 127.0.0.1: `port`, or a free one. Default: it is off. The clock of the
   * service then runs on `clock` and can be moved.
   */
  readonly control?: boolean | { readonly port?: number | undefined } | undefined;
}

/** Health of a running process. Each part is `ok`, or says what is wrong. */
export interface NodeHealth {
  /**
   * `degraded`: a part fails, but requests are answered or jobs carried out; `failing`: the database or the lease fails;
   * `closing`: it takes no more jobs.
   */
  readonly status: 'starting' | 'ok' | 'degraded' | 'failing' | 'closing';
  /** Its name in the log of the other nodes. */
  readonly node: string;
  readonly role: Role;
  readonly runningJobs: number;
  readonly database: string;
  readonly storage: string;
  readonly queue: string;
  /** Whether the others know that it is alive; null without others. */
  readonly lease: string | null;
  /** Null for a process whose engines are not known, or that carries out no jobs. */
  readonly engines: string | null;
  /** Null when the system does not report it. */
  readonly diskFreeBytes: number | null;
}

interface NodeControl {
  /** Checks all parts. Never throws. */
  readHealth(): Promise<NodeHealth>;
  /**
   * Begins no more jobs; `/readyz` is 503 from now on. Resolves when the running jobs have ended and callers had time to notice, as
   * long as `drainMs` and `shutdownDelayMs` say, or when the signal aborts. Close it then.
   */
  drain(hurry: AbortSignal): Promise<void>;
}

/** A process that carries out jobs and answers no requests. */
export interface Worker extends NodeControl {
  /** Its name in the log of the other nodes. */
  readonly id: string;
  /** Origin of its health and metrics; null without `metricsPort`. */
  readonly metricsUrl: string | null;
  /** Releases unfinished jobs, which another worker takes immediately, and ends. */
  close(): Promise<void>;
}

/** A running service. */
export interface Service extends NodeControl {
  /** Base URL of the interface; ends in `/v1`. */
  readonly url: string;
  /** URL of the documents that problems refer to. */
  readonly docsUrl: string;
  /** Keys that are not revoked, oldest first. The first start creates one after the service listens. */
  readonly keys: () => Promise<readonly IssuedKey[]>;
  /** The control interface and its token; null if it is off. */
  readonly control: ControlAddress | null;
  /** The key that this start created; null if the state folder already had one, or none was wanted. */
  readonly newKey: IssuedKey | null;
  issueKey(rules?: KeyRules): Promise<IssuedKey>;
  /** Deletes a key that was never used. If it was the first key, the next start creates a new one. */
  dropKey(key: string): Promise<void>;
  /** Replaces all rules of a key. */
  changeKey(key: string, rules: KeyRules): Promise<void>;
  /** Adds credits to the account. `expiresAt` is in ms since 1970. Default: they do not expire. */
  grantCredits(grant: { credits: number; expiresAt?: number | undefined }): Promise<void>;
  /** Returns the engines of a job and how its speech fits; null for a job that is unknown, not done, or whose engines do not report it. */
  readProvenance(jobId: string): Promise<Provenance | null>;
  /** Ends requests in progress, releases unfinished jobs, and closes all resources. May be called again. */
  close(): Promise<void>;
}
