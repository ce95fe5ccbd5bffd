import { type Call, kindOf } from '../call.ts';
import type { Context } from '../context.ts';
import { type Answer, json } from '../http/answer.ts';
import { refuseUnknownResource } from '../http/refusal.ts';
import { type Outcome, replayHeader } from '../idempotency.ts';
import { presentJob } from './present.ts';
import { findOwnJob, type JobRow } from './rows.ts';

/** The single GET of every job kind. */
export function getJob(context: Context, call: Call): Answer {
  const job = { id: call.resourceId, keyId: call.key.id, kind: kindOf(call), now: call.now };
  const row = context.recentRows.find(job, (asked) => findOwnJob(context, asked));
  if (row === undefined) throw refuseUnknownResource();
  return json(200, presentJob(context, row));
}

/** The job that a call is about; throws Refusal RESOURCE_NOT_FOUND. */
export function requireOwnJob(context: Context, call: Call, id: string): JobRow {
  const row = findOwnJob(context, { id, keyId: call.key.id, kind: kindOf(call), now: call.now });
  if (row === undefined) throw refuseUnknownResource();
  return row;
}

/** Answers a POST or DELETE with the job as it is now. */
export function answerJob(
  context: Context,
  call: Call,
  outcome: Outcome,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const row = requireOwnJob(context, call, outcome.resourceId);
  return json(outcome.status, presentJob(context, row), { ...headers, ...replayHeader(outcome) });
}
