/** The history of a folder of results, for the plan; read without a lock. */

import { readOtherResults } from '../../batch/other-journals.ts';
import type { History } from '../../batch/plan/batch-plan.ts';
import { readDelivery } from '../../batch/plan/delivery.ts';
import { foldItemFacts } from '../../batch/plan/facts.ts';
import { foldIntents } from '../../batch/records/intents.ts';
import { describeBatchDamage, readBatchLog } from '../../batch/report/read-batch.ts';
import { hashInput } from '../../batch/run/known-uploads.ts';
import type { Context } from '../context/context.ts';
import type { JobOptions } from './job-options.ts';

type HistoryOptions = Pick<JobOptions, 'out' | 'shard' | 'fresh' | 'clobber' | 'retryFailed' | 'skipDone'>;

interface ReadHistory extends History {
  /** A sentence for each damaged place of the journal that was not repaired yet. */
  readonly damage: readonly string[];
}

/** @throws Failure (`disk`) when the journal cannot be read */
export async function readHistory(
  { io, signal }: Pick<Context, 'io' | 'signal'>,
  options: HistoryOptions,
): Promise<ReadHistory> {
  const { out, shard } = options;
  const place = readDelivery(null, { out, shard }, io);
  const content = await readBatchLog(place);
  const { records } = content;
  return {
    recorded: { intents: foldIntents(records), facts: foldItemFacts(records) },
    choices: historyChoices({ io, signal }, options),
    otherResults: await readOtherResults(place),
    damage: describeBatchDamage(place, content),
  };
}

/** How the options treat earlier runs. */
export function historyChoices(
  { io, signal }: Pick<Context, 'io' | 'signal'>,
  options: HistoryOptions,
): History['choices'] {
  return {
    now: io.now(),
    fresh: options.fresh,
    replace: options.clobber,
    retryFailed: options.retryFailed,
    skipDone: options.skipDone,
    hashFile: (path) => hashInput(path, signal),
  };
}

/** The terminal that gets warnings. */
interface WarningReceiver {
  readonly terminal: Pick<Context['terminal'], 'warn'>;
}

/** Most warnings about one journal. */
const MOST_PLACES = 3;

/** Reports damage of the journal, before anything else can end the command. */
export function warnOfDamage({ terminal }: WarningReceiver, { damage }: Pick<ReadHistory, 'damage'>): void {
  for (const sentence of damage.slice(0, MOST_PLACES)) terminal.warn(sentence);
  const more = damage.length - MOST_PLACES;
  if (more > 0) terminal.warn(`The record is damaged in ${more} more places.`);
}
