/** The one place where a test can make the service misbehave on the wire, without changing what it does inside. */
import type { Answer } from './answer.ts';

export interface RequestFacts {
  readonly method: string;
  /** As in the request line. */
  readonly target: string;
}

export interface Faults {
  /** Before anything is done: an answer to give instead, `drop` to cut the connection, or null to go on. */
  before(request: RequestFacts): Promise<Answer | 'drop' | null>;
  /** After all was done: the answer to give in its place, or `drop` so that the caller never learns of it. */
  after(request: RequestFacts, answer: Answer): Promise<Answer | 'drop'>;
}
