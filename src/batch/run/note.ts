import { Failure } from '../../errors/failure.ts';

/** Works on the records of the profile, whose failure is no reason to lose a paid result: then it gives undefined. */
export type Note = <T>(work: () => Promise<T>) => Promise<T | undefined>;

/** @param warn called with the first failure only: its cause affects the other records too */
export function createNote(warn: (text: string) => void): Note {
  let isWarned = false;
  return async (work) => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Failure && error.facts.category === 'disk')) throw error;
      if (!isWarned)
        warn(`${error.facts.message}. The run continues: the folder of the results has its own record.`);
      isWarned = true;
      return undefined;
    }
  };
}
