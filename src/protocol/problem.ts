/** The body of every error answer. Source: specification, "Errors"; RFC 9457. */
import { ERROR_CODES, type ErrorCode } from './error-codes.ts';

export const PROBLEM_CONTENT_TYPE = 'application/problem+json';

/** A field that breaks a rule. `pointer` is a JSON Pointer into the body, a query name or a header name. */
export interface FieldError {
  readonly pointer: string;
  readonly detail: string;
}

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: string;
  readonly request_id: string;
  readonly retryable: boolean;
  readonly errors?: readonly FieldError[];
}

/** Creates the body for a code. `docsUrl` has no trailing slash; `instance` is the path of the request. */
export function describeProblem(
  code: ErrorCode,
  about: {
    detail: string;
    instance: string;
    requestId: string;
    docsUrl: string;
    errors?: readonly FieldError[];
  },
): Problem {
  const row = ERROR_CODES[code];
  return {
    type: `${about.docsUrl}/errors/${code.toLowerCase()}`,
    title: row.title,
    status: row.status,
    detail: about.detail,
    instance: about.instance,
    code,
    request_id: about.requestId,
    retryable: row.retryable,
    ...(about.errors === undefined ? {} : { errors: about.errors }),
  };
}
