/**
 * Simulated faults on the network: the service answers wrongly without changing its internal work. `scriptFaults`
 * creates them from a list.
 */
import type { Exchange, ServiceResponse } from './exchange.ts';

export interface RequestFacts {
  readonly method: string;
  /** As in the request line. */
  readonly target: string;
  /** `req_…` of the answer. */
  readonly requestId: string;
  /** Scheme and host of the service as seen by callers. */
  readonly origin: string;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
}

/** Both are called with the same facts about one request. */
export interface Faults {
  /** Called before the work. Returns an answer to send instead, `drop` to close the connection, or null to continue. */
  before(request: RequestFacts): Promise<ServiceResponse | 'drop' | null>;
  /** Called after the work. Returns the answer to send instead, or `drop` to send none. */
  after(request: RequestFacts, answer: ServiceResponse): Promise<ServiceResponse | 'drop'>;
}

/** Does the work of a request unless a fault replaces it. Returns the answer after all faults. */
export async function applyFaults(
  faults: Faults,
  { request, response, id }: Exchange,
  origin: string,
  work: () => Promise<ServiceResponse>,
): Promise<ServiceResponse | 'drop'> {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  const facts = {
    method: request.method ?? '',
    target: request.url ?? '',
    requestId: id,
    origin,
    signal: gone.signal,
  };
  const made = (await faults.before(facts)) ?? (await work());
  if (made === 'drop') return made;
  const given = await faults.after(facts, made);
  // The file is not sent, so it must be closed here.
  const { body } = made;
  const isLeft = given === 'drop' || given.body !== body;
  if (isLeft && body !== null && typeof body !== 'string') await body.handle.close();
  return given;
}
