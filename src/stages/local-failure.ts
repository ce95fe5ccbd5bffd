/** Failures of the media work on this machine in the form that commands end with. */
import { asSentence } from '../context/format.ts';
import { Failure, type FailureCategory } from '../errors/failure.ts';

/** The codes of `PreparationFailure` that are not the fault of the file. */
const CATEGORIES: Readonly<Record<string, FailureCategory>> = {
  PROGRAM_MISSING: 'configuration',
  DISK_FULL: 'disk',
};

interface Told {
  readonly code: string;
  readonly message: string;
  readonly advice?: unknown;
}

/** Gives a failure back as it is; what nobody has foreseen is thrown. */
export function asLocalFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (!isTold(error)) throw error;
  const { code, message, advice } = error;
  return new Failure(
    {
      category: CATEGORIES[code] ?? 'job',
      code,
      message,
      advice:
        typeof advice === 'string'
          ? asSentence(advice)
          : 'All that was paid is kept: run the same command again.',
    },
    { cause: error },
  );
}

/** By their names: the classes belong to media work, which is loaded only when it is needed. */
function isTold(error: unknown): error is Error & Told {
  const names = ['PreparationFailure', 'JobFailure'];
  return (
    error instanceof Error && names.includes(error.name) && 'code' in error && typeof error.code === 'string'
  );
}
