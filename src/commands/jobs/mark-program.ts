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

/**
 * Reads which program that is, and refuses one that cannot be used before anything is sent.
 * @throws Failure (`configuration`)
 */
export async function createMarking(context: Context): Promise<MarkByProgram> {
  const [entry] = (await readEngines(context))?.mark ?? [];
  if (entry === undefined) return async (video) => video;
  const { createParts, withEngine } = await import('../engines/engines.ts');
  const parts = createParts(context);
  const mark: MarkByProgram = (video, { signal, folder }) =>
    withEngine('mark', entry, { parts, signal }, (engine, run) => engine.mark(video, { ...run, folder }));
  await withEngine('mark', entry, { parts, signal: context.signal }, async () => {}).catch(
    (error: unknown) => {
      throw markingFailure('the program that marks finished videos cannot be used', error);
    },
  );
  return (video, work) =>
    mark(video, work).catch((error: unknown) => {
      work.signal.throwIfAborted();
      throw markingFailure('the finished video could not be marked', error);
    });
}

function markingFailure(what: string, error: unknown): Failure {
  return new Failure(
    {
      category: 'configuration',
      code: 'ENGINE_ERROR',
      message: `${what}: ${error instanceof Error ? error.message : String(error)}`,
      advice:
        'Correct it, or remove it with `vloc engines remove mark 1`, then run the same command again: nothing is paid twice.',
    },
    { cause: error },
  );
}
