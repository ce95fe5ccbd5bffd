import { LIMITS } from '../../protocol/limits.ts';
import type { JobSummary } from '../../protocol/resources.ts';
import { JOB_STATUSES } from '../../protocol/states.ts';
import { type Call, kindOf } from '../call.ts';
import type { Context } from '../context.ts';
import { type Answer, json } from '../http/answer.ts';
import { readPage } from '../lists/page.ts';
import { presentSummary } from './present.ts';
import { SUMMARY_COLUMNS, type SummaryRow } from './rows.ts';

/** The list of every job kind: summaries, the newest first. */
export function listJobs(context: Context, call: Call): Answer {
  const page = readPage<SummaryRow, JobSummary>(context, call, {
    table: 'jobs',
    columns: SUMMARY_COLUMNS,
    timeColumn: 'created_at',
    conditions: [
      { sql: 'kind = ?', values: [kindOf(call)] },
      { sql: 'created_at > ?', values: [call.now - LIMITS.retentionMs] },
    ],
    filters: {
      status: { values: JOB_STATUSES },
      client_reference: { maxLength: LIMITS.clientReferenceLength },
    },
    positionOf: (row) => ({ time: row.created_at, id: row.id }),
    present: presentSummary,
  });
  return json(200, page);
}
