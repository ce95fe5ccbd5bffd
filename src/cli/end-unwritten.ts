/** The end of a run that was answered before anything else was loaded, and whose answer stdout did not take. */

import type { Io } from '../context/context.ts';
import { EXIT_CODES } from '../errors/exit-codes.ts';
import { reportFailure } from './report-failure.ts';
import { describeFault } from './stdout-fault.ts';

/** Says why and gives the exit code. */
export async function endUnwritten(error: Error, io: Io): Promise<number> {
  const failure = describeFault(error);
  if (failure === null) return 0;
  await reportFailure(failure, io, { output: undefined, jq: undefined, fields: [], color: 'auto' });
  return EXIT_CODES[failure.facts.category].code;
}
