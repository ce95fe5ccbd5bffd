/** The service under test: its URL, the supplies of the run, and how to wait for it. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
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

/** The supplies of the run in addition to a URL and a key; null if one is missing. */
export interface Supplies {
  readonly jobs: boolean;
  readonly media: UploadFile | null;
  readonly mediaUrl: string | null;
  readonly ffmpeg: MakeVideo | null;
  readonly otherKey: Credentials | null;
  /** Where webhooks arrive, and the key of their signatures. */
  readonly webhooks: { readonly receiver: Receiver; readonly secret: string } | null;
}

/** Rules of a key, set by an administrator. Default: everything is allowed. */
export interface KeyRules {
  readonly permissions?: readonly string[];
  readonly monthlyLimitCredits?: number;
  readonly allowedAddresses?: readonly string[];
}

/** Options for an account that is opened for a rule. */
export interface Means {
  readonly credits?: number;
  readonly planEnded?: boolean;
  /** Requests that a key may send per hour. */
  readonly requests?: number;
  /** Jobs stay queued. */
  readonly idle?: boolean;
  /** URLs from callers may point to this machine. */
  readonly loopback?: boolean;
}

/** `passing`: another attempt may succeed; `final`: the job ends. */
type WorkFailure = 'passing' | 'final';

/** What the service has recorded about a webhook. Times are in ms since 1970. */
interface Webhook {
  readonly createdAt: number;
  /** Null after its last attempt. */
  readonly nextAttemptAt: number | null;
}

/** Access that only the operator of the service has, through its control interface. */
export interface Admin {
  issueKey(rules?: KeyRules): Promise<Credentials>;
  /** Replaces all rules of a key. */
  changeKey(key: Credentials, rules: KeyRules): Promise<void>;
  /** `expiresAt` in ms since 1970. */
  grantCredits(credits: number, expiresAt?: number): Promise<void>;
  /** Moves the clock of the service forward. */
  advance(ms: number): Promise<void>;
  /** Stops the clock of the service; only `advance` moves it from then on. Returns its time in ms since 1970. */
  freeze(): Promise<number>;
  /** The webhooks of the account, newest first. */
  webhooks(): Promise<readonly Webhook[]>;
  /** Media work that starts from now on waits. */
  holdWork(): Promise<void>;
  letWorkGo(): Promise<void>;
  /** The next attempts at media work fail, one for each value. */
  failWork(...failures: readonly WorkFailure[]): Promise<void>;
  /** Starts another service: a new account with its own address and clock, closed when the rule ends, or the run if it is shared. */
  open(means?: Means): Promise<ServiceUnderTest>;
}

export interface ServiceUnderTest {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path of the base URL, ends in `/v1`. */
  readonly basePath: string;
  readonly caller: Caller;
  /** False: behaviour that the specification does not define may differ. */
  readonly strict: boolean;
  /** Languages of the text that is sent and of the requested result. */
  readonly languages: { readonly source: string; readonly target: string };
  readonly supplies: Supplies;
  readonly admin: Admin | null;
  /** ms since 1970, by the clock of the service. */
  now(): number;
  callerFor(credentials: Credentials, headerPrefix?: string): Caller;
  /** Calls `ask` until `done`. Fails after the configured time. `what` completes "waited for". */
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
    /** Waits if the service answers that there are too many requests. */
    readonly withLimits: boolean;
  };
}

/** Creates the object that rules use. Sends nothing. */
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
      // What takes long is asked for less often.
      for (let pauseMs = everyMs; ; pauseMs = Math.max(everyMs, Math.min(pauseMs * 1.2, 100))) {
        const value = await ask();
        if (done(value)) return value;
        if (performance.now() > giveUpAt) assert.fail(`waited ${atMostMs / 1000} s for ${what}`);
        await sleep(pauseMs);
      }
    },
  };
}

/** Returns the administrator access. Rules that use it declare the need, and are skipped without it. */
export function adminOf(service: ServiceUnderTest): Admin {
  if (service.admin === null) throw new Error('a rule uses powers that it does not ask for');
  return service.admin;
}

type End = () => Promise<unknown>;

/** Empty outside rules. */
const endings = new AsyncLocalStorage<End[]>();

/** Calls what `afterRule` was given meanwhile when `check` has ended. */
export async function withEndings(check: () => Promise<void>): Promise<void> {
  const ends: End[] = [];
  try {
    await endings.run(ends, check);
  } finally {
    for (const end of ends) await end();
  }
}

/** Calls `end` after the rule that is being run, or never if what it ends is shared among rules. */
export function afterRule(end: End): void {
  endings.getStore()?.push(end);
}

/** Creates a value once per service and shares it among rules. A failure is shared too. */
export function shared<T>(
  make: (service: ServiceUnderTest) => Promise<T>,
): (service: ServiceUnderTest) => Promise<T> {
  const made = new WeakMap<ServiceUnderTest, Promise<T>>();
  return (service) => {
    const earlier = made.get(service);
    if (earlier !== undefined) return earlier;
    const promise = endings.exit(() => make(service));
    made.set(service, promise);
    return promise;
  };
}

/** Returns a caller with the second key of the run. Rules that use it declare the need. */
export function otherCaller({ supplies, callerFor }: ServiceUnderTest): Caller {
  if (supplies.otherKey === null) throw new Error('a rule uses a second key that it does not ask for');
  return callerFor(supplies.otherKey);
}
