/** Progress of a whole made of the progress of its parts. */
import type { Stage, Work } from '../engine.ts';

/** The work of a part that takes the share from `from` to `to` of the whole, both fractions. */
export function portion(work: Work, from: number, to: number, stage?: Stage): Work {
  return {
    signal: work.signal,
    folder: work.folder,
    report: (fraction, inner) => work.report(from + fraction * (to - from), stage ?? inner),
  };
}

/** The work of a stage, said to have begun: its first own progress may be seconds away. */
export function enterStage(work: Work, from: number, to: number, stage: Stage): Work {
  const part = portion(work, from, to, stage);
  part.report(0);
  return part;
}

/** Work whose reported fraction stays within 0 to 1 and never falls, whatever its steps say. */
export function monotonic(work: Work): Work {
  let highest = 0;
  return {
    signal: work.signal,
    folder: work.folder,
    report(fraction, stage) {
      highest = Math.max(highest, Math.min(1, fraction));
      work.report(highest, stage);
    },
  };
}
