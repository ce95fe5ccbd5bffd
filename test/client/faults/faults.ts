/** Faults of the network, of proxies and of the service, with the expected exit of a run for each. */
import dns from 'node:dns';
import type { EXIT_CODES } from '../../../src/base/exit-codes.ts';
import {
  blackHole,
  executeThenReset,
  executeThenRespond,
  type FaultyResponse,
  gzipBomb,
  problem,
  redirectElsewhere,
  resetBeforeResponse,
  resetInBody,
  respondWith,
  slowLoris,
  truncated,
} from './faulty-responses.ts';
import type { Scenario } from './scenario.ts';

type ExitName = keyof typeof EXIT_CODES;

/** Expected exits of a run with the fault at a signed step, at the PUT, and at the download. */
export interface ExpectedExits {
  readonly api: ExitName;
  /** At signed steps that poll an upload or a job; default: as at the other signed steps. */
  readonly poll?: ExitName;
  readonly put: ExitName;
  readonly download: ExitName;
}

export interface Fault {
  readonly name: string;
  readonly does: /** Replaces or damages the response. */
    | {
        readonly type: 'answer';
        readonly respond: FaultyResponse;
        /** True if only a timeout ends the wait for the response. */
        readonly isSilent?: boolean;
      }
    /** Begins before the request is sent; the returned function ends it. */
    | { readonly type: 'before'; readonly begin: (scenario: Scenario) => Promise<() => Promise<void>> };
  readonly once: ExpectedExits;
  /** If the fault never ends. Default: as `once`. Null: the run waits until it is stopped. */
  readonly permanent?: ExpectedExits | null;
  /** True if the response has a request id. */
  readonly hasRequestId?: boolean;
}

/** A retry recovers from a single fault; a permanent one uses up all retries. */
const TRANSIENT: ExpectedExits = { api: 'done', put: 'done', download: 'done' };
const PERMANENT: ExpectedExits = { api: 'temporary', put: 'temporary', download: 'temporary' };
/** Storage is not the API: any 200 for a PUT is accepted, and the length of a result is known. */
const PERMANENT_BAD_BODY: ExpectedExits = { api: 'temporary', put: 'done', download: 'temporary' };

const JSON_TYPE = { 'content-type': 'application/json' };
/** The delay that a slightly busy service requests. */
const SOON = { 'retry-after': '3' };

const transient = (name: string, respond: FaultyResponse, hasRequestId = false): Fault => ({
  name,
  does: { type: 'answer', respond },
  once: TRANSIENT,
  permanent: PERMANENT,
  hasRequestId,
});

const silent = (name: string, respond: FaultyResponse): Fault => ({
  ...transient(name, respond),
  does: { type: 'answer', respond, isSilent: true },
});

const badBody = (name: string, respond: FaultyResponse): Fault => ({
  ...transient(name, respond, true),
  permanent: PERMANENT_BAD_BODY,
});

export const FAULTS: readonly Fault[] = [
  {
    name: 'refused connections',
    does: {
      type: 'before',
      begin: async ({ proxy }) => {
        await proxy.stopListening();
        return proxy.resumeListening;
      },
    },
    once: TRANSIENT,
    permanent: PERMANENT,
  },
  transient('a reset before the first byte', resetBeforeResponse),
  { ...transient('a reset in the middle of the body', resetInBody), permanent: PERMANENT_BAD_BODY },
  transient('the response lost after the service executed the request', executeThenReset),
  silent('a black hole', blackHole),
  silent('a slow loris', slowLoris),
  { ...transient('a truncated body', truncated), permanent: PERMANENT_BAD_BODY },
  {
    name: 'EAI_AGAIN of the name service',
    does: { type: 'before', begin: async () => failLookups() },
    once: TRANSIENT,
    permanent: PERMANENT,
  },
  {
    name: 'a certificate for another host',
    does: {
      type: 'before',
      begin: async ({ proxy, certificates }) => {
        proxy.useCertificate(certificates.other);
        return async () => proxy.useCertificate(certificates.own);
      },
    },
    once: { api: 'configuration', put: 'configuration', download: 'configuration' },
  },
  transient('502 with a page', respondWith(502, { 'content-type': 'text/html' }, '<h1>Bad Gateway</h1>')),
  transient('200 with a page', respondWith(200, { 'content-type': 'text/html' }, '<h1>Sign in</h1>')),
  {
    name: '403 with a page',
    does: { type: 'answer', respond: respondWith(403, { 'content-type': 'text/html' }, '<h1>Blocked</h1>') },
    // A retry may get another link from the job, or another reservation.
    once: { api: 'configuration', poll: 'done', put: 'done', download: 'configuration' },
    permanent: { api: 'configuration', put: 'configuration', download: 'configuration' },
  },
  badBody('malformed JSON', executeThenRespond(JSON_TYPE, '{"id": "x", ')),
  badBody('an empty body', executeThenRespond(JSON_TYPE)),
  badBody('another content type', executeThenRespond({ 'content-type': 'text/plain' }, '{}')),
  transient('503 that may be retried', problem(503, 'SERVICE_TEMPORARILY_UNAVAILABLE', true), true),
  {
    ...transient('503 that may not be retried', problem(503, 'SERVICE_TEMPORARILY_UNAVAILABLE', false), true),
    once: { api: 'refused', put: 'done', download: 'done' },
    permanent: { ...PERMANENT, api: 'refused' },
  },
  transient('429 for the rate', problem(429, 'RATE_LIMIT_EXCEEDED', true, SOON), true),
  {
    ...transient('429 for the slots', problem(429, 'CONCURRENCY_LIMIT_EXCEEDED', true, SOON), true),
    permanent: null,
  },
  {
    ...transient('429 for the quota', problem(429, 'CREDIT_QUOTA_EXCEEDED', false, SOON), true),
    once: { api: 'credits', put: 'done', download: 'done' },
    permanent: { ...PERMANENT, api: 'credits' },
  },
  {
    name: '401 because the clock is wrong',
    does: {
      type: 'before',
      begin: async (scenario) => {
        scenario.clockSkewMs = -400_000;
        return async () => {};
      },
    },
    once: TRANSIENT,
  },
  {
    name: '307 to another host',
    does: { type: 'answer', respond: redirectElsewhere },
    // A file is sent again under a new reservation, once.
    once: { api: 'configuration', poll: 'done', put: 'done', download: 'expired' },
    permanent: { api: 'configuration', poll: 'done', put: 'expired', download: 'expired' },
  },
  {
    ...transient('headers of 60 KB', executeThenRespond({ ...JSON_TYPE, 'x-big': 'a'.repeat(60_000) }, '{}')),
  },
  {
    name: 'a gzip bomb',
    does: { type: 'answer', respond: gzipBomb },
    once: { api: 'configuration', poll: 'done', put: 'done', download: 'configuration' },
    hasRequestId: true,
  },
  badBody('JSON 200,000 deep', executeThenRespond(JSON_TYPE, '['.repeat(200_000))),
];

/** Makes every name lookup fail; returns a function that restores it. */
async function failLookups(): Promise<() => Promise<void>> {
  const { lookup } = dns;
  const fail = (host: string, _options: unknown, done: (error: Error) => void) => {
    const error = Object.assign(new Error(`getaddrinfo EAI_AGAIN ${host}`), { code: 'EAI_AGAIN' });
    process.nextTick(done, error);
  };
  Reflect.set(dns, 'lookup', fail);
  return async () => void Reflect.set(dns, 'lookup', lookup);
}
