/** Stages, split and retries, against a service that answers no more than it must. */
import { runOnMinimal } from './suites.ts';

runOnMinimal(
  {
    stages: () => import('../../commands/stages/run-stages.test.ts'),
    'stages with subtitles that somebody brought': () =>
      import('../../commands/stages/run-stages-brought.test.ts'),
    'stages that were stopped': () => import('../../commands/stages/run-stages-stopped.test.ts'),
    terms: () => import('../../commands/jobs/terms.test.ts'),
    'the translation memory': () => import('../../commands/jobs/memory.test.ts'),
    'the translation memory in stages': () => import('../../commands/stages/memory.test.ts'),
    'terms in stages': () => import('../../commands/stages/terms.test.ts'),
    'missing cues': () => import('../../commands/jobs/missing-cues.test.ts'),
    'missing cues in stages': () => import('../../commands/stages/missing-cues.test.ts'),
    'batch retry': () => import('../../commands/batch/retry.test.ts'),
    split: () => import('../../commands/jobs/preparation.test.ts'),
    'split and killed': () => import('../../commands/jobs/preparation.killed.test.ts'),
  },
  // What was charged, why a part failed and the language that was heard are the subject of some.
  ['billing', 'error', 'language'],
);
