import { Failure } from '../../base/failure.ts';

/** Runs work on the records of this machine. A disk failure returns undefined, so that it never loses a paid result. */
export type TryRecord = <T>(work: () => Promise<T>) => Promise<T | undefined>;

/** @param warn called for the first failure only, since later ones have the same cause */
export function createNote(warn: (text: string) => void): TryRecord {
  let isWarned = false;
  return async (work) => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Failure && error.facts.category === 'disk')) throw error;
      if (!isWarned)
        warn(
          `${error.facts.message}. The run continues: the folder of the results has its own record. VLOC_STATE_DIR names the folder of this machine's records.`,
        );
      isWarned = true;
      return undefined;
    }
  };
}
