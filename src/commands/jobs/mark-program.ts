/** The program of `vloc engines add mark`, which gets each video that this machine marks, last. */
import { Failure } from '../../base/failure.ts';
import type { PreparationWork } from '../../batch/preparation.ts';
import type { Context } from '../context/context.ts';
import { readEngines } from '../context/engines.ts';

/** Returns the path of its video, in the work folder; without a program, that of the given one. @throws Failure */
export type MarkByProgram = (
  video: string,
  work: Pick<PreparationWork, 'signal' | 'folder'>,
) => Promise<string>;

export function createMarking(context: Context): MarkByProgram {
  return async (video, { signal, folder }) => {
    const [entry] = (await readEngines(context))?.mark ?? [];
    if (entry === undefined) return video;
    const { createParts, withEngine } = await import('../engines/engines.ts');
    try {
      return await withEngine('mark', entry, { parts: createParts(context), signal }, (engine, run) =>
        engine.mark(video, { ...run, folder }),
      );
    } catch (error) {
      signal.throwIfAborted();
      const why = error instanceof Error ? error.message : String(error);
      throw new Failure(
        {
          category: 'configuration',
          code: 'ENGINE_ERROR',
          message: `the finished video could not be marked: ${why}`,
          advice:
            'Correct it, or remove it with `vloc engines remove mark 1`, then run the same command again: nothing is paid twice.',
        },
        { cause: error },
      );
    }
  };
}
