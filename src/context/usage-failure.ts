import { Failure } from '../errors/failure.ts';

/** The failure of a command that was called in a way it does not take: exit code 2, and nothing was sent. */
export function usageFailure(message: string, advice: string): Failure {
  return new Failure({ category: 'usage', code: 'USAGE', message, advice });
}
