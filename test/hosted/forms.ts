import type { Difference } from './differences.ts';

/** Asks for a form of an answer; what is asked for and there counts as used. */
export type Has = (difference: Difference) => boolean;

/** The forms of one server; `used` collects those that an answer has had. */
export function createForms(chosen: readonly Difference[], used: Set<Difference>): Has {
  return (difference) => {
    if (!chosen.includes(difference)) return false;
    used.add(difference);
    return true;
  };
}
