/**
 * Faults on the wire: the service misbehaves towards its callers without changing what it does inside. `scriptFaults`
 * makes them from a list.
 */
import type { Exchange, ServiceResponse } from './exchange.ts';

export interface RequestFacts {
  readonly method: string;
  /** As in the request line. */
  readonly target: string;
  /** `req_…` of the answer. */
  readonly requestId: string;
  /** Scheme and host of the service as its callers see it. */
  readonly origin: string;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
}

/** Both are called with the same facts about one request. */
export interface Faults {
  /** Before the work: an answer to send instead, `drop` to cut the connection, or null to continue. */
  before(request: RequestFacts): Promise<ServiceResponse | 'drop' | null>;
  /** After the work: the answer to send in its place, or `drop` so that the caller never gets one. */
  after(request: RequestFacts, answer: ServiceResponse): Promise<ServiceResponse | 'drop'>;
}

/** Does the work of a request unless a fault replaces it, and returns the answer that the faults leave. */
export async function misbehave(
  faults: Faults,
  { request, response, id }: Exchange,
  origin: string,
  work: () => Promise<ServiceResponse>,
): Promise<ServiceResponse | 'drop'> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
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
  // Nobody else closes a file that is not sent.
  const { body } = made;
  const isLeft = given === 'drop' || given.body !== body;
  if (isLeft && body !== null && typeof body !== 'string') await body.handle.close();
  return given;
}
