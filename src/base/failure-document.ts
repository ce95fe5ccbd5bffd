/** Failures for programs, and anything thrown as a failure. */
import { diskFailure, type Failure, refusedFailure, usageFailure } from './failure.ts';
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
  // From any part, libraries included: the system call behind `process.cwd()`.
  if (error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd') {
    return usageFailure(
      'CURRENT_FOLDER_MISSING',
      `the current folder was deleted, or cannot be read (${code})`,
      'Change to another folder, then run the same command again.',
      {},
      { cause: error },
    );
  }
  if (isDiskCode(code)) {
    return diskFailure(code, message, describeDisk(code).advice, {}, { cause: error });
  }
  return refusedFailure(
    'INTERNAL_DEFECT',
    `internal error: ${message}`,
    'This is a defect: report it with the command and the output of the same command with --verbose.',
    {},
    { cause: error },
  );
}
