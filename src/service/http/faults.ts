/**
 * The one place where the service can be made to misbehave on the wire, without changing what it does inside.
 * `scriptFaults` fills it from a list.
 */
import type { Answer } from './answer.ts';
import type { Exchange } from './exchange.ts';

export interface RequestFacts {
  readonly method: string;
  /** As in the request line. */
  readonly target: string;
  /** `req_…` of the answer. */
  readonly requestId: string;
  /** Scheme and host of the service as its callers see it. */
  readonly origin: string;
  /** Ends when there is nobody left to answer. */
  readonly signal: AbortSignal;
}

/** Both are called with the same facts about one request. */
export interface Faults {
  /** Before anything is done: an answer to give instead, `drop` to cut the connection, or null to go on. */
  before(request: RequestFacts): Promise<Answer | 'drop' | null>;
  /** After all was done: the answer to give in its place, or `drop` so that the caller never learns of it. */
  after(request: RequestFacts, answer: Answer): Promise<Answer | 'drop'>;
}

/** Gives what the faults make of the answer to a request; whether the work is done at all is theirs to say. */
export async function misbehave(
  faults: Faults,
  { request, response, id }: Exchange,
  origin: string,
  work: () => Promise<Answer>,
): Promise<Answer | 'drop'> {
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
  // A file that nobody will send any more is nobody's to close.
  const { body } = made;
  const isLeft = given === 'drop' || given.body !== body;
  if (isLeft && body !== null && typeof body !== 'string') await body.handle.close();
  return given;
}
