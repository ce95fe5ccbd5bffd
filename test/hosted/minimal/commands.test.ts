/** Stages and split, against a service that answers no more than it must: their only run. The ledger has the others at such a service. */
import { runOnMinimal } from './suites.ts';

runOnMinimal(
  {
    'stages with subtitles that somebody brought': () =>
      import('../../commands/stages/run-stages-brought.test.ts'),
    'stages that were stopped': () => import('../../commands/stages/run-stages-stopped.test.ts'),
    split: () => import('../../commands/jobs/preparation.test.ts'),
    'split and killed': () => import('../../commands/jobs/preparation.killed.test.ts'),
  },
  // What was charged, why a part failed and the language that was heard are the subject of some.
  ['billing', 'error', 'language'],
);
