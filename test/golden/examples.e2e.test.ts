/** Records every example of the help that needs no shell, most of them with a service of its own. */
import { it } from 'vitest';
import { EXAMPLES, openDesks } from './cases/examples.ts';
import { PATIENCE, recordCases } from './record.ts';

it('the examples of the help print and end as recorded', PATIENCE, async () =>
  recordCases('examples', EXAMPLES, await openDesks()),
);
