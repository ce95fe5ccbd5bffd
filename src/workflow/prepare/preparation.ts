/** The media work of a run, for inputs that need preparation; loaded for the first one. */

import type { Preparation } from '../../batch/preparation.ts';
import type { Io } from '../../context/context.ts';
import { asSentence } from '../../context/format.ts';
import { Failure, type FailureCategory } from '../../errors/failure.ts';
import type { PreparationFailure } from '../../prepare/failure.ts';
import { serviceLimits } from './examine-video.ts';
import { joinParts } from './join-parts.ts';
import { prepareVideo } from './prepare-video.ts';

/** @param io PATH, and the limits of one job */
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
      const task = { ...(await load()), limits: limits ?? (await serviceLimits()), input, split, work };
      return asFailure('sending', () => prepareVideo(task));
    },
    async join(task, work) {
      const joining = { ...(await load()), task, work };
      return asFailure('joining', () => joinParts(joining));
    },
  };
}

/** `sending`: nothing is paid yet; `joining`: the parts are paid. */
type PreparationStage = 'sending' | 'joining';

/** Runs work of `prepare`, and converts its failures to Failure. */
async function asFailure<T>(stage: PreparationStage, work: () => Promise<T>): Promise<T> {
  const { PreparationFailure } = await import('../../prepare/failure.ts');
  try {
    return await work();
  } catch (error) {
    throw error instanceof PreparationFailure ? explain(error, stage) : error;
  }
}

function explain(error: PreparationFailure, stage: PreparationStage): Failure {
  const isPaid = stage === 'joining';
  const kept = 'The results of the parts are kept: the same command joins them again and pays nothing.';
  const advice = `${asSentence(error.advice)}${isPaid ? ` ${kept}` : ''}`;
  const facts = { code: error.code, message: error.message, advice };
  return new Failure({ category: categoryOf(error, isPaid), ...facts }, { cause: error });
}

function categoryOf({ code }: PreparationFailure, isPaid: boolean): FailureCategory {
  if (code === 'PROGRAM_MISSING') return 'configuration';
  return isPaid || code === 'DISK_FULL' ? 'disk' : 'usage';
}
