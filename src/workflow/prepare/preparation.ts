/** The media work of a run, for inputs that the service does not take as they are; loaded when the first one comes. */
import type { Preparation } from '../../batch/preparation.ts';
import type { Io } from '../../context/io.ts';
import { serviceLimits } from '../../context/long-limits.ts';
import { asFailure } from './preparation-failure.ts';

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
