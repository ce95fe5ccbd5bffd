/** The service that is put to the test: where it is, what the run was given, and how to wait for it. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MakeVideo } from './media/make.ts';
import type { Receiver } from './webhooks.ts';
import { type Caller, createCaller } from './wire/caller.ts';
import type { Credentials } from './wire/sign.ts';

/** A file to upload. */
export interface UploadFile {
  readonly purpose: 'source_video' | 'subtitle_file';
  readonly name: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** What the run was given beside an address and a key; null: it has none. */
export interface Supplies {
  readonly jobs: boolean;
  readonly media: UploadFile | null;
  readonly mediaUrl: string | null;
  readonly ffmpeg: MakeVideo | null;
  readonly otherKey: Credentials | null;
  /** Where webhooks arrive, and the key of their signatures. */
  readonly webhooks: { readonly receiver: Receiver; readonly secret: string } | null;
}

/** Rules of a key that an administrator would choose; left out: everything is allowed. */
export interface KeyRules {
  readonly permissions?: readonly string[];
  readonly monthlyLimitCredits?: number;
  readonly allowedAddresses?: readonly string[];
}

/** Means of an account that is opened for a rule. */
export interface Means {
  readonly credits?: number;
  readonly planEnded?: boolean;
  /** Requests that a key may make in an hour. */
  readonly requests?: number;
  /** Jobs stay queued. */
  readonly idle?: boolean;
  /** Addresses of callers may lead to this machine. */
  readonly loopback?: boolean;
}

/** A fault that another attempt may mend, or one that ends the job. */
export type WorkFailure = 'passing' | 'final';

/** Powers that only whoever runs the service has. */
export interface Admin {
  issueKey(rules?: KeyRules): Credentials;
  changeKey(key: Credentials, rules: KeyRules): void;
  /** `expiresAt` in ms since 1970. */
  grantCredits(credits: number, expiresAt?: number): void;
  /** Puts the clock of the service forward. */
  advance(ms: number): void;
  /** Media work begun from now on waits. */
  holdWork(): void;
  letWorkGo(): void;
  /** The next attempts at media work fail, one each. */
  failWork(...failures: readonly WorkFailure[]): void;
  /** Opens another workspace: a fresh account on a service of its own, closed when the run ends. */
  open(means?: Means): Promise<ServiceUnderTest>;
}

export interface ServiceUnderTest {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path of the base address, ends in `/v1`. */
  readonly basePath: string;
  readonly caller: Caller;
  /** False: what the specification does not show may differ. */
  readonly strict: boolean;
  /** Languages of the text that is sent and of what is asked for. */
  readonly languages: { readonly source: string; readonly target: string };
  readonly supplies: Supplies;
  readonly admin: Admin | null;
  /** ms since 1970 by the clock of the service. */
  now(): number;
  callerFor(credentials: Credentials, headerPrefix?: string): Caller;
  /** Asks until `done`; fails when patience ends. `what` completes "waited for". */
  until<T>(what: string, ask: () => Promise<T>, done: (value: T) => boolean): Promise<T>;
}

export interface ServiceOptions {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly credentials: Credentials;
  readonly headerPrefix: string;
  readonly strict: boolean;
  readonly languages: { readonly source: string; readonly target: string };
  readonly supplies: Supplies;
  readonly admin: Admin | null;
  readonly now: () => number;
  readonly patience: {
    readonly everyMs: number;
    readonly atMostMs: number;
    /** Waits where the service says that too many requests came in. */
    readonly withLimits: boolean;
  };
}

/** Puts together what rules need to know; nothing is sent. */
export function describeService(options: ServiceOptions): ServiceUnderTest {
  const { origin, pathname } = new URL(options.baseUrl);
  const basePath = pathname.replace(/\/$/, '');
  const { everyMs, atMostMs, withLimits } = options.patience;
  const callerFor = (credentials: Credentials, headerPrefix = options.headerPrefix) =>
    createCaller({ origin, basePath, headerPrefix, credentials, now: options.now, patient: withLimits });
  return {
    origin,
    basePath,
    caller: callerFor(options.credentials),
    strict: options.strict,
    languages: options.languages,
    supplies: options.supplies,
    admin: options.admin,
    now: options.now,
    callerFor,
    async until(what, ask, done) {
      const giveUpAt = performance.now() + atMostMs;
      for (;;) {
        const value = await ask();
        if (done(value)) return value;
        if (performance.now() > giveUpAt) assert.fail(`waited ${atMostMs / 1000} s for ${what}`);
        await sleep(everyMs);
      }
    },
  };
}

/** The powers of an administrator; rules that need them say so, and are skipped without. */
export function adminOf(service: ServiceUnderTest): Admin {
  if (service.admin === null) throw new Error('a rule uses powers that it does not ask for');
  return service.admin;
}

/** Makes something once for every service and shares it among rules, also its failure. */
export function shared<T>(
  make: (service: ServiceUnderTest) => Promise<T>,
): (service: ServiceUnderTest) => Promise<T> {
  const made = new WeakMap<ServiceUnderTest, Promise<T>>();
  return (service) => {
    const earlier = made.get(service);
    if (earlier !== undefined) return earlier;
    const promise = make(service);
    made.set(service, promise);
    return promise;
  };
}

/** A caller with the second key of the run; rules that use it say so. */
export function otherCaller({ supplies, callerFor }: ServiceUnderTest): Caller {
  if (supplies.otherKey === null) throw new Error('a rule uses a second key that it does not ask for');
  return callerFor(supplies.otherKey);
}
