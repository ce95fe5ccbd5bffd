/** Outcomes of a batch in the form in which commands report jobs. */
import { resolve } from 'node:path';
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import type { RunOutcome } from '../../batch/run/batch.ts';
import type { Failure } from '../../errors/failure.ts';
import type { Outcome } from './outcome.ts';

/** @param planned what the plan said of the item: it names files that were there before */
export function toOutcome(
  { item, state, job, partJobs }: RunOutcome,
  planned: PlannedItem | undefined,
): Outcome {
  const { label, stem } = item.input;
  const known = {
    id: state.jobId,
    kind: item.kind,
    target_language: item.targetLanguage,
    status: STATUS[state.phase],
    charged_credits: state.phase === 'done' ? state.credits : null,
    part_ids: partJobs ?? [],
  };
  const files = state.phase === 'done' ? filesOf(state, planned) : [];
  return { label, stem, job, known, files, failure: failureOf(state) };
}

/** Of an item whose job this run has not asked for. */
const STATUS = { done: 'succeeded', failed: 'failed', left: null } as const;

function filesOf(
  state: Extract<RunOutcome['state'], { phase: 'done' }>,
  planned: PlannedItem | undefined,
): Outcome['files'] {
  const skipped = state.before !== null;
  if (state.before !== 'exists') return state.files.map((file) => ({ ...file, skipped }));
  const paths = planned?.paths ?? [];
  return paths.map((path) => ({ asset: '', path: resolve(path), bytes: null, sha256: null, skipped }));
}

/** An item that is left running or was not started has not failed; the failure of the run says why. */
function failureOf(state: RunOutcome['state']): Failure | null {
  return state.phase === 'failed' ? state.failure : null;
}
