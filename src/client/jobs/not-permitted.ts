import { Failure } from '../../errors/failure.ts';
import type { ErrorCode } from '../../protocol/error-codes.ts';

const NOT_PERMITTED: ErrorCode = 'CAPABILITY_NOT_PERMITTED';

/** Whether the service refused because the key is not for that kind of job. */
export function isNotPermitted(error: unknown): error is Failure {
  return error instanceof Failure && error.facts.code === NOT_PERMITTED;
}
