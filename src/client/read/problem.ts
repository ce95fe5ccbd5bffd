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

/** More faults than anybody reads at once. */
const MAX_ERRORS = 50;

/** Never fails: what is not there, or not of its kind, is null. A body that is no object is no problem: null. */
export function readProblem(body: unknown): ReadProblem | null {
  const object = asObject(body);
  if (object === null) return null;
  const retryable = member(object, 'retryable');
  return {
    code: asText(member(object, 'code')),
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
