import type { Call } from '../call.ts';
import type { Context } from '../context.ts';
import { type Answer, json } from '../http/answer.ts';
import { refuseUnknownResource } from '../http/refusal.ts';
import { type Outcome, replayHeader } from '../idempotency.ts';
import { presentUpload } from './present.ts';
import { findOwnUpload } from './rows.ts';

/** `GET /uploads/{upload_id}`. */
export function getUpload(context: Context, call: Call): Answer {
  const row = findOwnUpload(context, call.key.id, call.resourceId, call.now);
  if (row === undefined) throw refuseUnknownResource();
  return json(200, presentUpload(context, row));
}

/** Answers a POST with the upload as it is now. */
export function answerUpload(
  context: Context,
  call: Call,
  outcome: Outcome,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const row = findOwnUpload(context, call.key.id, outcome.resourceId, call.now);
  if (row === undefined) throw refuseUnknownResource();
  return json(outcome.status, presentUpload(context, row), { ...headers, ...replayHeader(outcome) });
}
