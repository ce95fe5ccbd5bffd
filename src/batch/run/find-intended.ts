/** Calls of an earlier run whose answers are not known and that cannot be sent again. */
import type { Job } from '../../client/index.ts';
import type { IntendRecord } from '../../journal/intent-records.ts';
import type { BatchItem } from '../item.ts';
import { readReference } from './client-reference.ts';
import { attachedIds } from './lost-jobs.ts';
import { type Run, timestamp } from './run.ts';
import { noteAccepted } from './submit.ts';
import { resultExpired } from './unusable.ts';

/**
 * The job of a call that cannot be sent again with the same bytes, or null when the service has none.
 * @throws Failure (`expired`) when its reference does not tell it from others
 */
export async function findIntended(run: Run, item: BatchItem, asked: IntendRecord): Promise<Job | null> {
  const { client_reference: reference } = asked.params;
  if (typeof reference !== 'string' || readReference(reference) === null) throw resultExpired(null);
  const { client } = run.batch.connection;
  const signal = run.stopping.launching;
  const page = await client.jobs.list(item.kind, { client_reference: reference }, { signal });
  const attached = attachedIds(run.journal.intents);
  const summary = page.data.find(({ id }) => !attached.has(id));
  if (summary === undefined) return null;
  const job = await client.jobs.get(item.kind, summary.id, { signal });
  await noteAccepted(run, item, asked.key, job);
  return job;
}

/** Writes down that a call has never arrived, so that another may take its place. */
export function noteNeverArrived(run: Run, { key }: IntendRecord): Promise<void> {
  const refused = { type: 'refused', key, at: timestamp(run), code: 'NEVER_ARRIVED', retryable: true };
  return run.journal.add(refused);
}
