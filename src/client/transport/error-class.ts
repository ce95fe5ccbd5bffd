/**
 * Meaning of an answer that is not a success: the one table behind retries, exit codes, stops of a batch and messages.
 * Pure. Source: specification, "Errors"; design, "Exit codes", "Transport".
 */

import type { Blame, Failure, FailureCategory, FailureFacts, FailureOrigin } from '../../base/failure.ts';
import { ERROR_CODES, isErrorCode } from '../../protocol/error-codes.ts';

/** A refused answer, as far as the decision needs it. */
export interface ErrorResponse {
  /** Who sent it; network errors are judged elsewhere. */
  readonly origin: Exclude<FailureOrigin, 'network'>;
  readonly status: number;
  /** The code in the body, null when it has none. */
  readonly code: string | null;
  /** The `retryable` member of the service, null when it says nothing. */
  readonly retryable: boolean | null;
}

export interface ErrorClass {
  /** The exit code follows from it. */
  readonly category: FailureCategory;
  /** `queue`: all slots are taken, which does not count as a failed attempt. */
  readonly retry: 'never' | 'backoff' | 'throttle' | 'queue';
  readonly blame: Blame;
  /** True when a new link or a new reservation may help; only for answers from storage addresses. */
  readonly renew: boolean;
}

interface Row {
  readonly origin: ErrorResponse['origin'];
  /** Omitted: matches every status. */
  readonly status?: readonly number[] | ((status: number) => boolean);
  /** Omitted: with or without a code. A function is only called with a code. */
  readonly code?: string | ((code: string) => boolean) | null;
  /** Omitted: as the service says. */
  readonly retryable?: boolean;
  readonly verdict: readonly [ErrorClass['category'], ErrorClass['retry'], Blame];
  readonly renew?: true;
}

/** Statuses that mean "later" when nothing more is known. */
const PASSING = [408, 425, 500, 502, 503, 504];
/** Answers of a presigned address that has expired, is used up, or is no longer accepted. */
const LINK_REFUSED = [401, 403, 404, 409, 410];
/** Reasons why a success of a gateway cannot be read, and why the next one could not be either. */
export const UNREADABLE = { compressed: 'COMPRESSED', tooLarge: 'TOO_LARGE' } as const;

const anyCode = (): boolean => true;
const isSuccess = (status: number): boolean => status < 300;
const isServerError = (status: number): boolean => status >= 500;

/** The first row that matches decides; the last row of each origin matches everything. */
const ROWS: readonly Row[] = [
  { origin: 'api', code: 'CREDIT_QUOTA_EXCEEDED', verdict: ['credits', 'never', 'quota'] },
  { origin: 'api', code: 'CONCURRENCY_LIMIT_EXCEEDED', verdict: ['temporary', 'queue', 'service'] },
  { origin: 'api', code: 'SOURCE_IP_NOT_ALLOWED', verdict: ['configuration', 'never', 'address'] },
  { origin: 'api', code: 'API_ACCESS_NOT_INCLUDED_IN_PLAN', verdict: ['configuration', 'never', 'plan'] },
  { origin: 'api', code: 'CAPABILITY_NOT_PERMITTED', verdict: ['configuration', 'never', 'permission'] },
  { origin: 'api', status: [402], verdict: ['credits', 'never', 'credits'] },
  { origin: 'api', status: [401], code: anyCode, verdict: ['configuration', 'never', 'key'] },
  // A code that this version does not know, and still the service's own refusal of this key.
  { origin: 'api', status: [403], code: anyCode, verdict: ['configuration', 'never', 'access'] },
  { origin: 'api', status: [401, 403], verdict: ['configuration', 'never', 'request'] },
  { origin: 'api', status: [410], verdict: ['expired', 'never', 'request'] },
  { origin: 'api', status: [429], retryable: true, verdict: ['temporary', 'throttle', 'service'] },
  { origin: 'api', retryable: true, verdict: ['temporary', 'backoff', 'service'] },
  // The service's own statement that a retry is useless makes even a 503 a refusal.
  { origin: 'api', status: isServerError, retryable: false, verdict: ['refused', 'never', 'service'] },
  { origin: 'api', retryable: false, verdict: ['refused', 'never', 'request'] },
  // An earlier attempt with the same key is still at work; its result will be replayed.
  {
    origin: 'api',
    status: [409],
    code: (code) => code.includes('IN_PROGRESS'),
    verdict: ['temporary', 'backoff', 'service'],
  },
  { origin: 'api', status: [429], verdict: ['temporary', 'throttle', 'service'] },
  // The specification allows a retry of its 503 only when it says `retryable`.
  { origin: 'api', status: [503], code: anyCode, verdict: ['temporary', 'never', 'service'] },
  { origin: 'api', status: PASSING, verdict: ['temporary', 'backoff', 'service'] },
  { origin: 'api', status: isServerError, verdict: ['temporary', 'never', 'service'] },
  // A success whose body cannot be read.
  { origin: 'api', status: isSuccess, verdict: ['temporary', 'backoff', 'service'] },
  { origin: 'api', verdict: ['refused', 'never', 'request'] },

  { origin: 'storage', status: LINK_REFUSED, verdict: ['expired', 'never', 'link'], renew: true },
  // Some storages answer 400 where others answer 403.
  { origin: 'storage', code: 'ExpiredToken', verdict: ['expired', 'never', 'link'], renew: true },
  { origin: 'storage', code: 'RequestTimeout', verdict: ['temporary', 'backoff', 'storage'] },
  { origin: 'storage', status: [429], verdict: ['temporary', 'throttle', 'storage'] },
  { origin: 'storage', status: PASSING, verdict: ['temporary', 'backoff', 'storage'] },
  { origin: 'storage', verdict: ['refused', 'never', 'storage'] },

  { origin: 'gateway', code: UNREADABLE.compressed, verdict: ['configuration', 'never', 'gateway'] },
  { origin: 'gateway', code: UNREADABLE.tooLarge, verdict: ['configuration', 'never', 'gateway'] },
  // A login or maintenance page instead of an answer.
  { origin: 'gateway', status: isSuccess, verdict: ['temporary', 'backoff', 'gateway'] },
  { origin: 'gateway', status: [429], verdict: ['temporary', 'throttle', 'gateway'] },
  { origin: 'gateway', status: [408, 425], verdict: ['temporary', 'backoff', 'gateway'] },
  { origin: 'gateway', status: isServerError, verdict: ['temporary', 'backoff', 'gateway'] },
  // The signer of links may be a web server, whose pages are HTML too.
  { origin: 'gateway', status: LINK_REFUSED, verdict: ['configuration', 'never', 'gateway'], renew: true },
  { origin: 'gateway', verdict: ['configuration', 'never', 'gateway'] },
];

/** Exit category, retry, blame and renewal of a refused answer. */
export function classifyError(refused: ErrorResponse): ErrorClass {
  const row = ROWS.find((each) => matches(each, refused));
  if (row === undefined) throw new TypeError(`no row for an answer from ${refused.origin}`);
  const [category, retry, blame] = row.verdict;
  return { category, retry, blame, renew: row.renew ?? false };
}

function matches(row: Row, { origin, status, code, retryable }: ErrorResponse): boolean {
  if (row.origin !== origin) return false;
  if (row.retryable !== undefined && row.retryable !== retryable) return false;
  if (typeof row.code === 'string' && row.code !== code) return false;
  if (typeof row.code === 'function' && (code === null || !row.code(code))) return false;
  if (row.status === undefined) return true;
  return typeof row.status === 'function' ? row.status(status) : row.status.includes(status);
}

/** Consequence of each kind of blame for a whole run, and its words; `why` is one sentence without its final stop. */
export const BLAMES: Readonly<
  Record<
    Blame,
    {
      /** The reason for which a batch stops immediately; null: only the item fails. */
      readonly stops: 'authentication' | 'no-credits' | 'quota' | null;
      /** Null: the words of the answer say it. */
      readonly why: string | null;
    }
  >
> = {
  key: { stops: 'authentication', why: 'the service does not accept the key, its secret or the time' },
  address: {
    stops: 'authentication',
    why: "the address of this machine is not on the key's allow-list",
  },
  plan: { stops: 'authentication', why: "the workspace owner's plan does not include API access" },
  permission: { stops: 'authentication', why: 'the key lacks the permission for this operation' },
  access: { stops: 'authentication', why: 'the service refuses access' },
  credits: { stops: 'no-credits', why: null },
  quota: { stops: 'quota', why: null },
  request: { stops: null, why: null },
  service: { stops: null, why: null },
  link: { stops: null, why: null },
  storage: { stops: null, why: null },
  gateway: { stops: null, why: null },
  network: { stops: null, why: null },
};

const ADVICE: Readonly<Record<FailureCategory, string>> = {
  refused: 'Correct the request; for help, give the request id to the operator of the service.',
  configuration: 'Check the key, its permissions and the base URL: `vloc doctor` tests them.',
  credits: 'Add credits, then run the same command again.',
  expired: 'Start a new job.',
  temporary: 'Run the same command again later.',
  timeout: 'Run the same command again later.',
  usage: 'Correct the command.',
  partial: 'Run the same command again.',
  job: 'Read the error of the job.',
  disk: 'Free some space, then run the same command again.',
};

const FINAL = 'The service says that a retry does not help: give the request id to its operator.';

/** Advice on a refusal of the service: by code where it is known, else by category. */
export function adviseUser({ category, blame }: ErrorClass, code: string | null): string {
  if (category === 'refused' && blame === 'service') return FINAL;
  const known = code !== null && isErrorCode(code) ? ERROR_CODES[code] : null;
  // The advice of a code that can be retried says to retry.
  const fits = known !== null && (category !== 'refused' || !known.retryable);
  return fits ? known.advice : ADVICE[category];
}

/** Addressee of a request, as messages name it. */
export type Addressee = 'the API' | 'storage';

/**
 * The failure facts of an answer that something in front of the addressee sent: a proxy, a login page, a firewall.
 * @param shown the first line of its page, empty when it has none
 */
export function gatewayFacts(
  { category, retry }: ErrorClass,
  status: number,
  shown: string,
  addressee: Addressee,
): FailureFacts {
  const said = shown === '' ? `status ${status}` : `status ${status}: ${shown}`;
  return {
    category,
    code: addressee === 'storage' ? 'NOT_THE_STORAGE' : 'NOT_THE_SERVICE',
    origin: 'gateway',
    blame: 'gateway',
    message: `${gatewayWords(status, addressee)} (${said})`,
    advice: gatewayAdvice(category, status, addressee),
    status,
    retryable: retry !== 'never',
  };
}

/** Statuses by which something refuses to pass a request on. */
const BLOCKED: ReadonlySet<number> = new Set([401, 403, 407, 451]);

function gatewayWords(status: number, addressee: Addressee): string {
  if (BLOCKED.has(status)) return `a proxy, gateway or firewall in front of ${addressee} refused the request`;
  if (status === 429) return `a proxy or gateway in front of ${addressee} asks for fewer requests`;
  if (status >= 500) return `a proxy or gateway in front of ${addressee} is failing`;
  return `the answer did not come from ${addressee}`;
}

function gatewayAdvice(category: FailureCategory, status: number, addressee: Addressee): string {
  if (status === 429 || status >= 500) return 'Run the same command again later.';
  const base = addressee === 'the API' ? 'the base URL and ' : '';
  const check = `Check ${base}any proxy, firewall or login page between here and ${addressee}`;
  return category === 'temporary' ? `${check}, then run the same command again.` : `${check}.`;
}

/** The code of a refusal of signature headers that the service does not know. */
export const PREFIX_UNKNOWN = 'HEADER_PREFIX_UNKNOWN';

/** True if a service that expects another header prefix may answer so. */
export function mayMeanPrefix({ facts }: Failure): boolean {
  return facts.status === 401 || facts.code === PREFIX_UNKNOWN;
}
