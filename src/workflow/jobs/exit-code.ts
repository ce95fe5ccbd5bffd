/** The exit code that a run will end with, for summaries printed before it ends. */

import { type Context, Interruption } from '../../context/context.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import { Failure } from '../../errors/failure.ts';

/** @param failure that the run ends with, unless it is interrupted; null for none */
export function exitCodeOf({ signal }: Pick<Context, 'signal'>, failure: Failure | null): number {
  if (!signal.aborted) return EXIT_CODES[failure?.facts.category ?? 'done'].code;
  if (signal.reason instanceof Failure) return EXIT_CODES[signal.reason.facts.category].code;
  const isTerminated = signal.reason instanceof Interruption && signal.reason.signalName === 'SIGTERM';
  return isTerminated ? EXIT_CODES.terminated.code : EXIT_CODES.interrupted.code;
}
