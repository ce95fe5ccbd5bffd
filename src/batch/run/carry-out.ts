/** Carries out a recipe: finds the steps that are due and ready, starts them, and asks again with what they have made. */
import type { BatchOutcome } from '../item.ts';
import { type AnyStep, stepsOf } from './step.ts';

/** How a step ended. */
export type StepEnd =
  | { readonly type: 'made'; readonly value: unknown }
  /** A job that has no result now. */
  | { readonly type: 'unfinished'; readonly outcome: BatchOutcome }
  | { readonly type: 'thrown'; readonly error: unknown };

/** A step at work. */
export type Started<S> = readonly [step: S, end: Promise<StepEnd>];

export const madeOf = (value: unknown): StepEnd => ({ type: 'made', value });

/**
 * Carries out all steps that can be made.
 * @param ends gets how each step ended, by its id
 * @param recipe gets what the step with an id has made; undefined if nothing
 * @param start starts those of the steps that are wanted
 * @returns the step of the result, whether it was made or not
 * @throws what the first of its steps, in their order, has thrown, when all have ended
 */
export async function carryOut<S extends AnyStep<S>>(
  ends: Map<string, StepEnd>,
  recipe: (made: (id: string) => unknown) => S,
  start: (ready: readonly S[]) => readonly Started<S>[],
): Promise<S> {
  const going = new Map<string, Promise<void>>();
  const made = (id: string) => {
    const end = ends.get(id);
    return end?.type === 'made' ? end.value : undefined;
  };
  for (;;) {
    const result = recipe(made);
    const steps = stepsOf(result);
    const due = steps.filter(({ id }) => !ends.has(id) && !going.has(id));
    const ready = due.filter(({ needs }) => needs.every(({ id }) => ends.get(id)?.type === 'made'));
    for (const [{ id }, work] of start(ready)) {
      const end = work.catch((error: unknown): StepEnd => ({ type: 'thrown', error }));
      const noted = end.then((is) => {
        ends.set(id, is);
        going.delete(id);
      });
      going.set(id, noted);
    }
    if (going.size > 0) {
      await Promise.race(going.values());
      continue;
    }
    for (const { id } of steps) {
      const end = ends.get(id);
      if (end?.type === 'thrown') throw end.error;
    }
    return result;
  }
}
