/** Entries of a fault script, and their validation. */
import { ERROR_CODES, type ErrorCode } from '../../protocol/error-codes.ts';
import { OPERATIONS, type OperationName, operationName, VERSION_PREFIX } from '../../protocol/operations.ts';
import { createRouter } from '../http/router.ts';

/** Uploading the bytes of an upload, and downloading a result. */
const TRANSFERS = ['PUT /objects/{upload_id}', 'GET /assets/{job_id}/{name}'] as const;

/** An operation without its version, as in `POST /dubbings`, or one of the two transfers. */
export type FaultRoute = OperationName | (typeof TRANSFERS)[number];

/** All routes. */
const FAULT_ROUTES: readonly FaultRoute[] = [...OPERATIONS.map(operationName), ...TRANSFERS];

/** Creates a function that finds the route of a request line; null if no fault can be scripted for it. */
export function createRouteFinder(): (method: string, target: string) => FaultRoute | null {
  const find = createRouter();
  return (method, target) => {
    const url = URL.parse(target, 'http://localhost');
    if (url === null) return null;
    const match = find(method, url.pathname);
    if (!match.found) return null;
    const path = match.route.template.replace(VERSION_PREFIX, '');
    return FAULT_ROUTES.find((route) => route === `${method} ${path}`) ?? null;
  };
}

interface Occasion {
  /** The affected requests. */
  readonly on: FaultRoute;
  /** Number of consecutive requests. Default: 1. `Infinity`: all following requests. */
  readonly times?: number | undefined;
  /** Wait this long first. A caller who disconnects in the meantime is not served. */
  readonly delayMs?: number | undefined;
}

/** Whether the work is done: `before` skips it, `after` does it but discards its answer. Default: `before`. */
interface Timing {
  readonly when?: 'before' | 'after' | undefined;
}

/** An error: a problem document if the status has a code, else the HTML page of a proxy. */
interface ErrorAnswer extends Timing {
  readonly status: number;
  /** Default: the first code that has this status. */
  readonly code?: ErrorCode | undefined;
  /** Retry-After, in seconds. */
  readonly retryAfter?: number | undefined;
}

/** Any text, well formed or not. Default: JSON with status 200. */
interface RawAnswer extends Timing {
  readonly body: string;
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export type Fault = Occasion &
  (
    | ErrorAnswer
    | RawAnswer
    /** Closes the connection: before the work is done, or after it without an answer. */
    | { readonly drop: 'before' | 'after' }
    /** The correct answer with its full length in the header, but cut after this many bytes of the body. */
    | { readonly cutAfterBytes: number }
    /** The correct answer, delayed. */
    | { readonly delayMs: number }
  );

const EFFECTS = ['drop', 'cutAfterBytes', 'body', 'status'] as const;
/** Fields of each effect. `on`, `times` and `delayMs` are allowed with all of them. */
const FIELDS: Readonly<Record<(typeof EFFECTS)[number], readonly string[]>> = {
  drop: ['drop'],
  cutAfterBytes: ['cutAfterBytes'],
  body: ['body', 'status', 'headers', 'when'],
  status: ['status', 'code', 'retryAfter', 'when'],
};
const OCCASION: readonly string[] = ['on', 'times', 'delayMs'];

/** The default of `times`. */
const ONCE = 1;

/** Returns how often a fault happens. */
export function timesOf({ times = ONCE }: Fault): number {
  return times;
}

/** An entry that could never happen. The message names its route, the field and the rule. */
export class FaultError extends TypeError {
  override readonly name = 'FaultError';
  readonly field: string;
  readonly rule: string;

  constructor(route: string, field: string, rule: string) {
    super(`fault on "${route}": ${field} ${rule}`);
    this.field = field;
    this.rule = rule;
  }
}

/**
 * Refuses an entry that could never happen. Programs without types can pass such entries.
 * @throws FaultError
 */
export function checkFault(fault: Fault): void {
  const facts: Readonly<Record<string, unknown>> = { ...fault };
  const refuse = (field: string, rule: string): never => {
    throw new FaultError(String(fault.on), field, rule);
  };
  if (!FAULT_ROUTES.includes(fault.on))
    refuse('on', `is not a route; choose one of ${FAULT_ROUTES.join(', ')}`);
  const isCount = (value: unknown, least: number) => Number.isSafeInteger(value) && Number(value) >= least;
  const { times = ONCE, delayMs = 0, status = 200, retryAfter = 0, cutAfterBytes = 1 } = facts;
  if (times !== Number.POSITIVE_INFINITY && !isCount(times, 1)) refuse('times', 'must be 1 or more');
  if (!isCount(delayMs, 0)) refuse('delayMs', 'must be whole milliseconds');
  if (!isCount(retryAfter, 0)) refuse('retryAfter', 'must be whole seconds');
  if (!isCount(cutAfterBytes, 1)) refuse('cutAfterBytes', 'must be 1 or more');
  if (!isCount(status, 200) || Number(status) > 599) refuse('status', 'must be from 200 to 599');
  refuseOtherFields(facts, refuse);
  if ('drop' in fault && !['before', 'after'].includes(fault.drop)) refuse('drop', 'must be before or after');
  const { when = 'before', code } = facts;
  if (when !== 'before' && when !== 'after') refuse('when', 'must be before or after');
  if (code === undefined) return;
  const row = Object.entries(ERROR_CODES).find(([name]) => name === code);
  if (row === undefined) refuse('code', `"${String(code)}" is not an error code of the service`);
  else if (row[1].status !== status) refuse('code', `${row[0]} has the status ${row[1].status}`);
}

function refuseOtherFields(facts: object, refuse: (field: string, rule: string) => never): void {
  const given = Object.keys(facts);
  const effect = EFFECTS.find((name) => given.includes(name));
  if (effect === undefined && !given.includes('delayMs')) {
    refuse('status, body, drop, cutAfterBytes or delayMs', 'must say what happens');
  }
  const allowed = [...OCCASION, ...(effect === undefined ? [] : FIELDS[effect])];
  const other = given.find((name) => !allowed.includes(name));
  if (other !== undefined) refuse(other, `cannot be combined with ${effect ?? 'delayMs'}`);
}
