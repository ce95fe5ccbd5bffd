/** The only error class that reaches users: what happened, why, what to do next. */

/** Kind of failure from the user's point of view. It alone determines the exit code. */
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
 * Where a failure comes from: the API itself, storage behind a presigned URL, something in front of either (a proxy, a
 * firewall, a login page), or the network, if there was no answer.
 */
export type FailureOrigin = 'api' | 'storage' | 'gateway' | 'network';

/** Cause of a failure. A message names no other cause. */
export type Blame =
  | 'key'
  /** The address of this machine. */
  | 'address'
  | 'plan'
  | 'permission'
  /** Access was refused for a reason that this version does not know. */
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
  /** Machine-readable, upper case with underscores. The service's own code if it sent one. */
  readonly code: string;
  /** Description of the failure, one sentence without the final period. */
  readonly message: string;
  /** The next step for the user, one sentence or a command. */
  readonly advice?: string;
  /** The service's request id, for support. */
  readonly requestId?: string;
  /** HTTP status of the answer, if there was one. */
  readonly status?: number;
  /** How long the service asked the client to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** True if the same command may succeed later without a change. */
  readonly retryable?: boolean;
  /** Not set for failures found on this machine. */
  readonly origin?: FailureOrigin;
  /** Set together with `origin`. */
  readonly blame?: Blame;
  /** Invalid fields, with the names used by the service or the local check. */
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  /** True if the records on this machine cannot be used. No run continues without them. */
  readonly ofRecords?: boolean;
  /** Id of the job that the failure is about. */
  readonly jobId?: string;
}

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly facts: FailureFacts;

  constructor(facts: FailureFacts, options?: ErrorOptions) {
    super(facts.message, options);
    this.facts = facts;
  }

  get code(): string {
    return this.facts.code;
  }

  get category(): FailureCategory {
    return this.facts.category;
  }

  get advice(): string | undefined {
    return this.facts.advice;
  }

  /** Returns the same failure with some facts replaced. Keeps the cause. */
  with(facts: Partial<FailureFacts>): Failure {
    const options = this.cause === undefined ? {} : { cause: this.cause };
    return new Failure({ ...this.facts, ...facts }, options);
  }
}

type FailureDetails = Omit<Partial<FailureFacts>, 'category' | 'code' | 'message' | 'advice'>;

/** Returns the factory of a category. It takes the code, what happened, and what to do next. */
const failureOf =
  (category: FailureCategory) =>
  (
    code: string,
    message: string,
    advice?: string,
    details: FailureDetails = {},
    options?: ErrorOptions,
  ): Failure =>
    new Failure(
      // Details first: callers spread the facts of another failure into them, which also have a code and a message.
      { ...details, category, code, message, ...(advice === undefined ? {} : { advice }) },
      options,
    );

export const refusedFailure = failureOf('refused');
export const usageFailure = failureOf('usage');
export const partialFailure = failureOf('partial');
export const configurationFailure = failureOf('configuration');
export const jobFailure = failureOf('job');
export const creditsFailure = failureOf('credits');
export const temporaryFailure = failureOf('temporary');
export const timeoutFailure = failureOf('timeout');
export const expiredFailure = failureOf('expired');
export const diskFailure = failureOf('disk');

/** Returns true if the records on this machine cannot be used. */
export function isOfRecords(error: unknown): error is Failure {
  return error instanceof Failure && error.facts.ofRecords === true;
}

/** Returns true if the API itself answered with this status. The same status from a gateway does not count. */
export function isApiAnswer(error: unknown, status: number): error is Failure {
  return error instanceof Failure && error.facts.origin === 'api' && error.facts.status === status;
}
