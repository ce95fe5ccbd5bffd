/** The event at the end of a job. Source: contract, "Webhooks"; specification, "Events". */
import type { JobKind } from '../../../protocol/kind-names.ts';
import { KINDS } from '../../../protocol/kinds.ts';
import { VERSION_PREFIX } from '../../../protocol/operations.ts';
import type { JobEvent } from '../../../protocol/resources.ts';
import type { TerminalStatus } from '../../../protocol/states.ts';
import { formatInstant } from '../../clock.ts';
import type { ServiceContext } from '../../context.ts';
import type { Transaction } from '../../store/store.ts';

/** The row of a job that has just ended. */
interface EndedJob {
  readonly id: string;
  readonly kind: JobKind;
  readonly key_id: string;
  readonly status: TerminalStatus;
  readonly client_reference: string | null;
  readonly callback_url: string | null;
}

/**
 * Records the event of a job for delivery if it has a callback URL. Takes the transaction that ends the job, so
 * that each job has exactly one event.
 */
export async function recordEvent(
  tx: Transaction,
  makeId: ServiceContext['makeId'],
  job: EndedJob,
  now: number,
): Promise<void> {
  if (job.callback_url === null) return;
  const id = makeId('event');
  await tx.run(
    `INSERT INTO deliveries (id, job_id, key_id, url, body, created_at, run_after)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    id,
    job.id,
    job.key_id,
    job.callback_url,
    JSON.stringify(describeEvent(id, job, now)),
    now,
    now,
  );
}

function describeEvent(id: string, job: EndedJob, now: number): JobEvent {
  return {
    id,
    object: 'event',
    type: `${job.kind}.${job.status}`,
    created_at: formatInstant(now),
    data: {
      id: job.id,
      object: job.kind,
      status: job.status,
      client_reference: job.client_reference,
      detail_url: `${VERSION_PREFIX}/${KINDS[job.kind].path}/${job.id}`,
    },
  };
}
