/** The rule for work in the background that cannot be done: the same error three times in a row. */

/** Once or twice may be chance. */
const MOST_REPEATS = 3;

export interface Repeats {
  /** The work threw. */
  failed(error: unknown): void;
  /** The work was done, so that errors before it no longer count. */
  succeeded(): void;
}

/**
 * Counts the errors of one piece of work that is tried again and again.
 * @param onStuck called with an error that has come three times in a row
 */
export function createRepeats(onStuck: (error: unknown) => void): Repeats {
  let last = '';
  let count = 0;
  return {
    failed(error) {
      const text = String(error);
      count = text === last ? count + 1 : 1;
      last = text;
      if (count === MOST_REPEATS) onStuck(error);
    },
    succeeded() {
      count = 0;
    },
  };
}
