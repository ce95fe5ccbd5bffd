/**
 * `vloc jobs` against a service that says nothing of the files of its results. Their jobs were made by another program, so
 * that only the service knows what was asked for: it repeats that. `test/hosted/names.test.ts` has those made here.
 */
import { runOnMinimal } from './suites.ts';

runOnMinimal(
  {
    'jobs wait, names': () => import('../../commands/jobs/jobs-wait.names.test.ts'),
    'jobs download': () => import('../../commands/jobs/jobs-download.test.ts'),
  },
  ['error', 'input', 'language'],
);
