/** Faults from a list: which request meets which, until the list is used up. */
import { type Clock, systemClock } from '../clock.ts';
import type { Answer } from '../http/answer.ts';
import type { Faults, RequestFacts } from '../http/faults.ts';
import { checkFault, type Fault, timesOf } from './fault.ts';
import { makeFaultAnswer } from './fault-answer.ts';
import { createRouteFinder } from './routes.ts';

/** Goes into `createService({ faults })`. */
export interface FaultScript extends Faults {
  /** Appends faults; requests that come from now on meet them. */
  add(...faults: readonly Fault[]): void;
  /** Faults that have not happened yet, `times` being how often each still will. */
  pending(): readonly Fault[];
}

/**
 * Plays faults in the order of the list: each request meets the first fault for its route that is left, at most one.
 *
 *     const faults = scriptFaults([{ on: 'POST /dubbings', times: 2, status: 503, retryAfter: 3 }]);
 *     const service = await createService({ stateDir, faults });
 *
 * @param options.clock by which `delayMs` is measured; default: the system's
 * @throws TypeError for a route that there is not, and for a fault that could never happen as it is written
 */
export function scriptFaults(
  faults: readonly Fault[] = [],
  { clock = systemClock }: { readonly clock?: Clock } = {},
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
    if (delayMs !== undefined) await sleep(clock, delayMs, signal);
    return !signal.aborted;
  };
  add(...faults);

  return {
    add,
    pending: () => waiting.map(({ fault, left }) => ({ ...fault, times: left })),
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
      // Nobody will send it, so nobody else would close it.
      if (isFile(answer.body)) await answer.body.handle.close();
      if (!(await delay(fault, request))) return 'drop';
      return makeFaultAnswer(fault, request) ?? 'drop';
    },
  };
}

/** True for a fault that lets the work be done first. */
function isLate(fault: Fault): boolean {
  if ('drop' in fault) return fault.drop === 'after';
  return 'cutAfterBytes' in fault || ('when' in fault && fault.when === 'after');
}

function isFile(body: Answer['body']) {
  return body !== null && typeof body !== 'string';
}

/** Resolves after that many ms, or when the signal ends. */
function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const cancel = clock.schedule(ms, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    const stop = () => {
      cancel();
      resolve();
    };
    signal.addEventListener('abort', stop, { once: true });
  });
}
