/** What earlier runs have left in a folder of results, for the plan: read without a lock and without changing it. */
import { resolve } from 'node:path';
import type { History } from '../../batch/plan/batch-plan.ts';
import { foldItemFacts } from '../../batch/plan/facts.ts';
import { readBatchLog } from '../../batch/report/read-batch.ts';
import { hashInput } from '../../batch/run/known-uploads.ts';
import { foldIntents } from '../../journal/intents.ts';
import type { Context } from '../context.ts';

/** @param options of the command, by name  @throws Failure (`disk`) when the journal cannot be read */
export async function readHistory(
  { io, signal }: Pick<Context, 'io' | 'signal'>,
  options: Readonly<Record<string, unknown>>,
): Promise<History> {
  const folder = resolve(io.cwd, typeof options.out === 'string' ? options.out : '');
  const { records } = await readBatchLog(folder);
  return {
    recorded: { intents: foldIntents(records), facts: foldItemFacts(records) },
    choices: historyChoices({ io, signal }, options),
  };
}

/** How the options want the past to count, as of now. */
export function historyChoices(
  { io, signal }: Pick<Context, 'io' | 'signal'>,
  options: Readonly<Record<string, unknown>>,
): History['choices'] {
  return {
    now: io.now(),
    fresh: options.fresh === true,
    replace: options.clobber === true,
    retryFailed: options.retryFailed === true,
    hashFile: (path) => hashInput(path, signal),
  };
}
