/** Faults from a list, assigned to requests in order, and the answers that they send. */
import { ERROR_CODES, isErrorCode } from '../../protocol/error-codes.ts';
import { describeProblem, PROBLEM_CONTENT_TYPE } from '../../protocol/problem.ts';
import { type Clock, sleepFor, systemClock } from '../clock.ts';
import type { ServiceResponse } from '../http/exchange.ts';
import type { Faults, RequestFacts } from '../http/faults.ts';
import { DOCS_PATH } from '../http/router.ts';
import { checkFault, createRouteFinder, type Fault, timesOf } from './fault.ts';

/** The value for `createService({ faults })`. */
export interface FaultScript extends Faults {
  /** Appends faults for future requests. */
  add(...faults: readonly Fault[]): void;
  /** Faults that have not happened yet; `times` is how often each remains. */
  pending(): readonly Fault[];
  /** Removes all faults that have not happened yet. */
  clear(): void;
}

/**
 * Plays faults in the order of the list: each request gets the first remaining fault for its route.
 *
 *     const faults = scriptFaults([{ on: 'POST /dubbings', times: 2, status: 503, retryAfter: 3 }]);
 *     const service = await createService({ stateDir, faults });
 *
 * @param options.clock measures `delayMs`; default: the system's
 * @throws FaultError for an unknown route, and for a fault that could never happen
 */
export function scriptFaults(
  faults: readonly Fault[] = [],
  { clock = systemClock }: { readonly clock?: Clock | undefined } = {},
): FaultScript {
  const waiting: { readonly fault: Fault; left: number }[] = [];
  const met = new WeakMap<RequestFacts, Fault>();
  const findRoute = createRouteFinder();

  const add = (...more: readonly Fault[]) => {
    for (const fault of more) checkFault(fault);
    waiting.push(...more.map((fault) => ({ fault, left: timesOf(fault) })));
  };
  const take = ({ method, target }: RequestFacts): Fault | null => {
    const route = findRoute(method, target);
    const entry = waiting.find(({ fault }) => fault.on === route);
    if (entry === undefined) return null;
    entry.left -= 1;
    if (entry.left === 0) waiting.splice(waiting.indexOf(entry), 1);
    return entry.fault;
  };
  const delay = async ({ delayMs }: Fault, { signal }: RequestFacts) => {
    if (delayMs !== undefined) await sleepFor(clock, delayMs, signal);
    return !signal.aborted;
  };
  add(...faults);

  return {
    add,
    pending: () => waiting.map(({ fault, left }) => ({ ...fault, times: left })),
    clear: () => void waiting.splice(0),
    async before(request) {
      const fault = take(request);
      if (fault === null) return null;
      if (isLate(fault)) {
        met.set(request, fault);
        return null;
      }
      if (!(await delay(fault, request))) return 'drop';
      return 'drop' in fault ? 'drop' : makeFaultAnswer(fault, request);
    },
    async after(request, answer) {
      const fault = met.get(request);
      if (fault === undefined) return answer;
      if ('cutAfterBytes' in fault && (await delay(fault, request))) {
        return { ...answer, cutAfter: fault.cutAfterBytes };
      }
      // The answer is not sent, so its file must be closed here.
      if (isFile(answer.body)) await answer.body.handle.close();
      if (!(await delay(fault, request))) return 'drop';
      return makeFaultAnswer(fault, request) ?? 'drop';
    },
  };
}

/** Returns true for a fault after the work. */
function isLate(fault: Fault): boolean {
  if ('drop' in fault) return fault.drop === 'after';
  return 'cutAfterBytes' in fault || ('when' in fault && fault.when === 'after');
}

function isFile(body: ServiceResponse['body']) {
  return body !== null && typeof body !== 'string';
}

/** Creates the answer of a fault to a request; null for a fault without its own answer. */
function makeFaultAnswer(fault: Fault, request: RequestFacts): ServiceResponse | null {
  if ('body' in fault) {
    const { status = 200, body, headers = {} } = fault;
    return { status, headers: { 'Content-Type': 'application/json', ...headers }, body };
  }
  if (!('status' in fault)) return null;
  const { status, retryAfter } = fault;
  const headers: Record<string, string> = retryAfter === undefined ? {} : { 'Retry-After': `${retryAfter}` };
  const code = fault.code ?? firstCodeOf(status);
  if (code === null) {
    const body = `<html><title>${status}</title><h1>${status}</h1></html>`;
    return { status, headers: { 'Content-Type': 'text/html', ...headers }, body };
  }
  const problem = describeProblem(code, {
    detail: 'this fault was scripted',
    instance: new URL(request.target, request.origin).pathname,
    requestId: request.requestId,
    docsUrl: request.origin + DOCS_PATH,
  });
  return {
    status,
    headers: { 'Content-Type': PROBLEM_CONTENT_TYPE, ...headers },
    body: JSON.stringify(problem),
  };
}

function firstCodeOf(status: number) {
  const codes = Object.keys(ERROR_CODES).filter(isErrorCode);
  return codes.find((code) => ERROR_CODES[code].status === status) ?? null;
}
