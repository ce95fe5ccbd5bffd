/** Webhooks in the store, for the operator: lists those that were not delivered, and sends one again. */

import type { InferOutput } from 'valibot';
import { formatInstant } from '../clock.ts';
import type { ServiceContext } from '../context.ts';
import type { CONTROL_OPERATIONS } from './operations.ts';

type Wanted = NonNullable<InferOutput<(typeof CONTROL_OPERATIONS)['webhooks.list']['fields']>['status']>;

const STATUSES: Readonly<Record<Wanted, readonly string[]>> = {
  undelivered: ['pending', 'abandoned'],
  pending: ['pending'],
  abandoned: ['abandoned'],
  delivered: ['delivered'],
  all: ['pending', 'abandoned', 'delivered'],
};

interface Row {
  readonly id: string;
  readonly status: string;
  readonly job_id: string;
  readonly key_id: string;
  readonly url: string;
  readonly body: string;
  readonly created_at: number;
  readonly ended_at: number | null;
  readonly attempts: number;
  readonly run_after: number;
}

const COLUMNS = 'id, status, job_id, key_id, url, body, created_at, ended_at, attempts, run_after';

/** More than a person reads or a test creates. */
const MOST = 1000;

/** Returns webhooks, newest first; `more` is true if there are more than fit into one answer. */
export async function listWebhooks(
  { store }: ServiceContext,
  status: Wanted,
): Promise<{ data: object[]; more: boolean }> {
  const rows = await store.all<Row>(
    `SELECT ${COLUMNS} FROM deliveries WHERE status IN (${STATUSES[status].map(() => '?').join(', ')})
     ORDER BY created_at DESC, id DESC LIMIT ?`,
    ...STATUSES[status],
    MOST + 1,
  );
  return { data: rows.slice(0, MOST).map(describe), more: rows.length > MOST };
}

/** Makes a webhook due now, as if nothing had been tried yet. Returns null if the id is unknown. */
export async function resendWebhook(
  { store, clock, signals }: ServiceContext,
  id: string,
): Promise<object | null> {
  // A process that is sending it now keeps its lease and records the end of that attempt.
  const row = await store.get<Row>(
    `UPDATE deliveries SET status = 'pending', ended_at = NULL, attempts = 0, crashes = 0, run_after = ?
     WHERE id = ? RETURNING ${COLUMNS}`,
    clock.now(),
    id,
  );
  if (row === undefined) return null;
  signals.emit('webhookDue');
  return describe(row);
}

function describe(row: Row): object {
  // The body was written by this service.
  const { type }: { type: string } = JSON.parse(row.body);
  return {
    id: row.id,
    status: row.status,
    type,
    job_id: row.job_id,
    key: row.key_id,
    url: row.url,
    attempts: row.attempts,
    next_attempt_at: row.status === 'pending' ? formatInstant(row.run_after) : null,
    created_at: formatInstant(row.created_at),
    ended_at: row.ended_at === null ? null : formatInstant(row.ended_at),
  };
}
