/** Combines the progress of parts into the progress of the whole. */
import type { Stage, Work } from '../../media/work.ts';

/** Returns the work of a part. Its progress counts as the share from `from` to `to` of the whole. */
export function shareProgress(work: Work, from: number, to: number, stage?: Stage): Work {
  return {
    ...work,
    report: (fraction, inner) => work.report(from + fraction * (to - from), stage ?? inner),
  };
}

/** Returns the work of a stage and reports the stage as started, because its first own progress may take seconds. */
export function enterStage(work: Work, from: number, to: number, stage: Stage): Work {
  const part = shareProgress(work, from, to, stage);
  part.report(0);
  return part;
}

/** Returns work whose reported fraction stays within 0 to 1 and never decreases. */
export function keepProgressRising(work: Work): Work {
  let highest = 0;
  return {
    ...work,
    report(fraction, stage) {
      highest = Math.max(highest, Math.min(1, fraction));
      work.report(highest, stage);
    },
  };
}
