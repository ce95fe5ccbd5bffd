/** The body of an error answer, read leniently. Source: specification, "Errors"; RFC 9457. */
import type { FieldError } from '../../protocol/problem.ts';
import { asObject, asText, member } from './record.ts';

export interface ReadProblem {
  readonly code: string | null;
  /** `detail`, else `title`. */
  readonly message: string | null;
  readonly retryable: boolean | null;
  readonly requestId: string | null;
  readonly errors: readonly FieldError[];
}

/** More errors than a person reads. */
const MAX_ERRORS = 50;

/** The members of the specification beside `code`. */
const MEMBERS = ['type', 'title', 'detail', 'instance', 'request_id', 'retryable'];
const PROBLEM_TYPE = /^application\/problem\+json\s*(?:;|$)/i;

/**
 * Never fails: a missing member, or one of another type, is null.
 * @returns null for JSON in another shape, which a gateway writes: the service gives a code and says more, or at least
 *   names the type of a problem
 */
export function readProblem(body: unknown, contentType: string): ReadProblem | null {
  const object = asObject(body);
  if (object === null) return null;
  const code = asText(member(object, 'code'));
  const hasMembers = MEMBERS.some((name) => member(object, name) !== undefined);
  if (!hasMembers || (code === null && !PROBLEM_TYPE.test(contentType))) return null;
  const retryable = member(object, 'retryable');
  return {
    code,
    message: asText(member(object, 'detail')) ?? asText(member(object, 'title')),
    retryable: typeof retryable === 'boolean' ? retryable : null,
    requestId: asText(member(object, 'request_id')),
    errors: readErrors(member(object, 'errors')),
  };
}

function readErrors(value: unknown): FieldError[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_ERRORS).flatMap((entry) => {
    const object = asObject(entry);
    if (object === null) return [];
    const pointer = asText(member(object, 'pointer')) ?? '';
    const detail = asText(member(object, 'detail')) ?? '';
    return pointer === '' && detail === '' ? [] : [{ pointer, detail }];
  });
}
