/** Errors that nobody foresaw, made into what a user can act on. */
import { Failure } from '../errors/failure.ts';
import { describeDisk, errorCode, isDiskCode } from '../errors/system-error.ts';

/** The Failure that stands for any thrown value; a defect of ours says so and how to report it. */
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
