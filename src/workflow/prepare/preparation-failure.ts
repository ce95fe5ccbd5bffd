/** Failures of preparing in the form in which commands know failures. */
import { Failure, type FailureCategory } from '../../errors/failure.ts';
import type { PreparationFailure } from '../../prepare/failure.ts';

/** `sending`: nothing is paid yet; `joining`: the parts are paid, and what fails is this machine. */
type Moment = 'sending' | 'joining';

/** Runs work of `prepare`; its failures leave as Failure, all else as it is. */
export async function asFailure<T>(moment: Moment, work: () => Promise<T>): Promise<T> {
  const { PreparationFailure } = await import('../../prepare/failure.ts');
  try {
    return await work();
  } catch (error) {
    throw error instanceof PreparationFailure ? explain(error, moment) : error;
  }
}

function explain(error: PreparationFailure, moment: Moment): Failure {
  const isPaid = moment === 'joining';
  const advice = isPaid
    ? `${error.advice}. The results of the parts are kept: the same command joins them again and pays nothing.`
    : `${error.advice}.`;
  const facts = { code: error.code, message: error.message, advice };
  return new Failure({ category: categoryOf(error, isPaid), ...facts }, { cause: error });
}

function categoryOf({ code }: PreparationFailure, isPaid: boolean): FailureCategory {
  if (code === 'PROGRAM_MISSING') return 'configuration';
  return isPaid || code === 'DISK_FULL' ? 'disk' : 'usage';
}
