/** Combines the progress of parts into the progress of the whole. */
import type { Stage, Work } from '../engine.ts';

/** The work of a part, whose progress counts as the share from `from` to `to` of the whole. */
export function portion(work: Work, from: number, to: number, stage?: Stage): Work {
  return {
    signal: work.signal,
    folder: work.folder,
    report: (fraction, inner) => work.report(from + fraction * (to - from), stage ?? inner),
  };
}

/** The work of a stage, reported as started, since its first own progress may be seconds away. */
export function enterStage(work: Work, from: number, to: number, stage: Stage): Work {
  const part = portion(work, from, to, stage);
  part.report(0);
  return part;
}

/** Work whose reported fraction stays within 0 to 1 and never falls. */
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
