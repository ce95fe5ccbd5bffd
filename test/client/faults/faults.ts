/** The faults of the network, of proxies and of the service, and what a run that meets one ends as. */
import dns from 'node:dns';
import type { EXIT_CODES } from '../../../src/errors/exit-codes.ts';
import {
  blackHole,
  executed,
  executedThenDropped,
  gzipBomb,
  instead,
  problem,
  resetAtOnce,
  resetInTheMiddle,
  type Spoil,
  sentElsewhere,
  slowLoris,
  truncated,
} from './spoilt-answers.ts';
import type { Stage } from './stage.ts';

export type End = keyof typeof EXIT_CODES;

/** How a run ends that meets the fault at a signed step, at the PUT, at the download. */
export interface Ends {
  readonly api: End;
  /** At a signed step that looks how an upload or a job is; left out: as at the others. */
  readonly poll?: End;
  readonly put: End;
  readonly download: End;
}

export interface Fault {
  readonly name: string;
  readonly does: /** Spoils the answer. */
    | {
        readonly type: 'answer';
        readonly spoil: Spoil;
        /** True for an answer that only time can end. */
        readonly isSilent?: boolean;
      }
    /** Is there before the request is sent; the call that comes back takes it away. */
    | { readonly type: 'before'; readonly begin: (stage: Stage) => Promise<() => Promise<void>> };
  readonly once: Ends;
  /** Left out: the same. Null: the run waits until somebody stops it. */
  readonly forGood?: Ends | null;
  /** True when the service has told an id of the request. */
  readonly traced?: boolean;
}

/** Once is made good by a retry; for good, all retries are used up. */
const PASSING: Ends = { api: 'done', put: 'done', download: 'done' };
const LASTING: Ends = { api: 'temporary', put: 'temporary', download: 'temporary' };
/** Storage is not the API: whatever kind of 200 it answers to a PUT is taken, and the bytes of a result have a length. */
const SPOILT_FOR_GOOD: Ends = { api: 'temporary', put: 'done', download: 'temporary' };

const JSON_TYPE = { 'content-type': 'application/json' };
/** As long as a service asks for that is a little busy. */
const SOON = { 'retry-after': '3' };

const passing = (name: string, spoil: Spoil, traced = false): Fault => ({
  name,
  does: { type: 'answer', spoil },
  once: PASSING,
  forGood: LASTING,
  traced,
});

const silent = (name: string, spoil: Spoil): Fault => ({
  ...passing(name, spoil),
  does: { type: 'answer', spoil, isSilent: true },
});

const spoilt = (name: string, spoil: Spoil): Fault => ({
  ...passing(name, spoil, true),
  forGood: SPOILT_FOR_GOOD,
});

export const FAULTS: readonly Fault[] = [
  {
    name: 'refused connections',
    does: {
      type: 'before',
      begin: async ({ line }) => {
        await line.hangUp();
        return line.pickUp;
      },
    },
    once: PASSING,
    forGood: LASTING,
  },
  passing('a reset before the first byte', resetAtOnce),
  { ...passing('a reset in the middle of the body', resetInTheMiddle), forGood: SPOILT_FOR_GOOD },
  passing('the answer lost after the service executed', executedThenDropped),
  silent('a black hole', blackHole),
  silent('a slow loris', slowLoris),
  { ...passing('a truncated body', truncated), forGood: SPOILT_FOR_GOOD },
  {
    name: 'EAI_AGAIN of the name service',
    does: { type: 'before', begin: async () => failLookups() },
    once: PASSING,
    forGood: LASTING,
  },
  {
    name: 'a certificate for another host',
    does: {
      type: 'before',
      begin: async ({ line, certificates }) => {
        line.show(certificates.other);
        return async () => line.show(certificates.own);
      },
    },
    once: { api: 'configuration', put: 'configuration', download: 'configuration' },
  },
  passing('502 with a page', instead(502, { 'content-type': 'text/html' }, '<h1>Bad Gateway</h1>')),
  passing('200 with a page', instead(200, { 'content-type': 'text/html' }, '<h1>Sign in</h1>')),
  {
    name: '403 with a page',
    does: { type: 'answer', spoil: instead(403, { 'content-type': 'text/html' }, '<h1>Blocked</h1>') },
    // A job may name another link, and there may be another reservation.
    once: { api: 'configuration', poll: 'done', put: 'done', download: 'configuration' },
    forGood: { api: 'configuration', put: 'configuration', download: 'configuration' },
  },
  spoilt('malformed JSON', executed(JSON_TYPE, '{"id": "x", ')),
  spoilt('an empty body', executed(JSON_TYPE)),
  spoilt('another content type', executed({ 'content-type': 'text/plain' }, '{}')),
  passing('503 that may be retried', problem(503, 'SERVICE_TEMPORARILY_UNAVAILABLE', true), true),
  {
    ...passing('503 that may not be retried', problem(503, 'SERVICE_TEMPORARILY_UNAVAILABLE', false), true),
    once: { api: 'refused', put: 'done', download: 'done' },
    forGood: { ...LASTING, api: 'refused' },
  },
  passing('429 for the rate', problem(429, 'RATE_LIMIT_EXCEEDED', true, SOON), true),
  {
    ...passing('429 for the slots', problem(429, 'CONCURRENCY_LIMIT_EXCEEDED', true, SOON), true),
    forGood: null,
  },
  {
    ...passing('429 for the quota', problem(429, 'CREDIT_QUOTA_EXCEEDED', false, SOON), true),
    once: { api: 'credits', put: 'done', download: 'done' },
    forGood: { ...LASTING, api: 'credits' },
  },
  {
    name: '401 since the clock is wrong',
    does: {
      type: 'before',
      begin: async (stage) => {
        stage.clockOffMs = -400_000;
        return async () => {};
      },
    },
    once: PASSING,
  },
  {
    name: '307 to another host',
    does: { type: 'answer', spoil: sentElsewhere },
    once: { api: 'configuration', poll: 'done', put: 'refused', download: 'expired' },
  },
  {
    ...passing('headers of 60 KB', executed({ ...JSON_TYPE, 'x-big': 'a'.repeat(60_000) }, '{}')),
  },
  {
    name: 'a gzip bomb',
    does: { type: 'answer', spoil: gzipBomb },
    once: { api: 'configuration', poll: 'done', put: 'done', download: 'configuration' },
    traced: true,
  },
  spoilt('JSON 200,000 deep', executed(JSON_TYPE, '['.repeat(200_000))),
];

/** Every name is unknown for now; gives the call that mends it. */
async function failLookups(): Promise<() => Promise<void>> {
  const { lookup } = dns;
  const fail = (host: string, _options: unknown, done: (error: Error) => void) => {
    const error = Object.assign(new Error(`getaddrinfo EAI_AGAIN ${host}`), { code: 'EAI_AGAIN' });
    process.nextTick(done, error);
  };
  Reflect.set(dns, 'lookup', fail);
  return async () => void Reflect.set(dns, 'lookup', lookup);
}
