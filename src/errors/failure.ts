/** The one kind of error that reaches a user: what happened, why, what to do next. */

/** What a failure means for the user; the exit code follows from it alone. */
export type FailureCategory =
  | 'refused'
  | 'usage'
  | 'partial'
  | 'configuration'
  | 'job'
  | 'credits'
  | 'temporary'
  | 'timeout'
  | 'expired'
  | 'disk';

/**
 * Where a failure comes from: the API itself, storage behind a presigned address, something in front of either (a proxy,
 * a firewall, a login page), or the network, which gave no answer.
 */
export type FailureOrigin = 'api' | 'storage' | 'gateway' | 'network';

/** What is at fault; a message names nothing else. */
export type Blame =
  | 'key'
  /** The address of this machine. */
  | 'address'
  | 'plan'
  | 'permission'
  /** Access refused for a reason that this version does not know. */
  | 'access'
  | 'credits'
  | 'quota'
  | 'request'
  | 'service'
  /** A download link or an upload reservation. */
  | 'link'
  | 'storage'
  | 'gateway'
  | 'network';

export interface FailureFacts {
  readonly category: FailureCategory;
  /** Machine-readable, upper case with underscores: the service's own code where there is one. */
  readonly code: string;
  /** What happened, one sentence without the final stop. */
  readonly message: string;
  /** What to do next, one sentence or a command. */
  readonly advice?: string;
  /** The service's id of the request, for support. */
  readonly requestId?: string;
  /** HTTP status of the answer, when there was one. */
  readonly status?: number;
  /** How long the service asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** True when the same command may succeed later without a change. */
  readonly retryable?: boolean;
  /** Missing for what this machine found itself. */
  readonly origin?: FailureOrigin;
  /** Given with every origin. */
  readonly blame?: Blame;
  /** Fields at fault, as the service or the local check names them. */
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  /** True when the records of this machine cannot be used: no run continues without them. */
  readonly ofRecords?: boolean;
  /** Id of the job it is about. */
  readonly jobId?: string;
}

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly facts: FailureFacts;

  constructor(facts: FailureFacts, options?: ErrorOptions) {
    super(facts.message, options);
    this.facts = facts;
  }

  /** The same failure with some facts told better; the cause stays. */
  with(facts: Partial<FailureFacts>): Failure {
    const options = this.cause === undefined ? {} : { cause: this.cause };
    return new Failure({ ...this.facts, ...facts }, options);
  }
}

/** True when the records of this machine cannot be used. */
export function isOfRecords(error: unknown): error is Failure {
  return error instanceof Failure && error.facts.ofRecords === true;
}

/** True when the API itself answered with this status; a page of a gateway with the same status says nothing. */
export function isApiAnswer(error: unknown, status: number): error is Failure {
  return error instanceof Failure && error.facts.origin === 'api' && error.facts.status === status;
}
