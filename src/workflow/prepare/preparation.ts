/** The media work of a run, for inputs that the service does not take as they are; loaded when the first one comes. */
import type { Preparation } from '../../batch/preparation.ts';
import type { Io } from '../../context/context.ts';
import { asSentence } from '../../context/format.ts';
import { Failure, type FailureCategory } from '../../errors/failure.ts';
import type { PreparationFailure } from '../../prepare/failure.ts';
import { serviceLimits } from './examine-video.ts';

/** @param io says where programs are, and how long an input may be */
export function createPreparation({ env, limits }: Pick<Io, 'env' | 'limits'>): Preparation {
  const load = async () => {
    const [prepare, { createPrograms }] = await Promise.all([
      import('../../prepare/index.ts'),
      import('../../engines/programs.ts'),
    ]);
    return { prepare, programs: createPrograms(env.PATH ?? '') };
  };
  return {
    async prepare(input, split, work) {
      const { prepareVideo } = await import('./prepare-video.ts');
      const task = { ...(await load()), limits: limits ?? (await serviceLimits()), input, split, work };
      return asFailure('sending', () => prepareVideo(task));
    },
    async join(task, work) {
      const { joinParts } = await import('./join-parts.ts');
      const joining = { ...(await load()), task, work };
      return asFailure('joining', () => joinParts(joining));
    },
  };
}

/** `sending`: nothing is paid yet; `joining`: the parts are paid, and what fails is this machine. */
type Moment = 'sending' | 'joining';

/** Runs work of `prepare`; its failures leave as Failure, all else as it is. */
async function asFailure<T>(moment: Moment, work: () => Promise<T>): Promise<T> {
  const { PreparationFailure } = await import('../../prepare/failure.ts');
  try {
    return await work();
  } catch (error) {
    throw error instanceof PreparationFailure ? explain(error, moment) : error;
  }
}

function explain(error: PreparationFailure, moment: Moment): Failure {
  const isPaid = moment === 'joining';
  const kept = 'The results of the parts are kept: the same command joins them again and pays nothing.';
  const advice = `${asSentence(error.advice)}${isPaid ? ` ${kept}` : ''}`;
  const facts = { code: error.code, message: error.message, advice };
  return new Failure({ category: categoryOf(error, isPaid), ...facts }, { cause: error });
}

function categoryOf({ code }: PreparationFailure, isPaid: boolean): FailureCategory {
  if (code === 'PROGRAM_MISSING') return 'configuration';
  return isPaid || code === 'DISK_FULL' ? 'disk' : 'usage';
}
