import type { ErrorCode } from '../../protocol/error-codes.ts';
import type { FieldError } from '../../protocol/problem.ts';

export interface RefusalExtras {
  /** Fields at fault, for a 400. */
  readonly errors?: readonly FieldError[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Ends a request with an error of the table; the message becomes its `detail`, so it holds nothing secret. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  readonly extras: RefusalExtras;

  constructor(code: ErrorCode, detail: string, extras: RefusalExtras = {}) {
    super(detail);
    this.code = code;
    this.extras = extras;
  }
}

/** A 400 that names one field. */
export function refuseField(pointer: string, detail: string): Refusal {
  return new Refusal('INVALID_REQUEST', `${pointer}: ${detail}`, { errors: [{ pointer, detail }] });
}

/** A 400 that names every field at fault. */
export function refuseFields(errors: readonly FieldError[]): Refusal {
  const detail = errors.map((error) => `${error.pointer || 'the body'}: ${error.detail}`).join('; ');
  return new Refusal('INVALID_REQUEST', detail, { errors });
}

/** The one answer for an id that is unknown, foreign, malformed or past its retention. */
export function refuseUnknownResource(): Refusal {
  return new Refusal('RESOURCE_NOT_FOUND', 'there is no such resource for this key');
}
