/** Failures for programs, and anything thrown as a failure. */
import { Failure } from './failure.ts';
import { describeDisk, errorCode, isDiskCode } from './system-error.ts';

/** The JSON form: one object with `error`, the same names as a problem document of the service. */
export function failureDocument(failure: Failure): { readonly error: object } {
  const { category, code, message, advice, requestId, retryable, errors, jobId } = failure.facts;
  return {
    error: {
      code,
      category,
      message,
      advice: advice ?? null,
      request_id: requestId ?? null,
      job_id: jobId ?? null,
      retryable: retryable ?? false,
      ...(errors === undefined ? {} : { errors }),
    },
  };
}

/** Turns any thrown value into a Failure; an internal error says how to report it. */
export function asFailure(error: unknown): Failure {
  const code = errorCode(error);
  const message = error instanceof Error ? error.message : String(error);
  if (isDiskCode(code)) {
    return new Failure(
      { category: 'disk', code, message, advice: describeDisk(code).advice },
      { cause: error },
    );
  }
  return new Failure(
    {
      category: 'refused',
      code: 'INTERNAL_DEFECT',
      message: `internal error: ${message}`,
      advice:
        'This is a defect: report it with the command and the output of the same command with --verbose.',
    },
    { cause: error },
  );
}
