/** Outcomes of a batch in the form in which commands tell of jobs. */
import { resolve } from 'node:path';
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import type { RunOutcome } from '../../batch/run/batch.ts';
import type { Failure } from '../../client/failure.ts';
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
    status: state.phase === 'done' ? 'succeeded' : null,
    charged_credits: state.phase === 'done' ? state.credits : null,
    part_ids: partJobs ?? [],
  };
  const files = state.phase === 'done' ? filesOf(state, planned) : [];
  return { label, stem, job, known, files, failure: failureOf(state) };
}

function filesOf(
  state: Extract<RunOutcome['state'], { phase: 'done' }>,
  planned: PlannedItem | undefined,
): Outcome['files'] {
  const skipped = state.before !== null;
  if (state.before !== 'exists') return state.files.map((file) => ({ ...file, skipped }));
  const paths = planned?.paths ?? [];
  return paths.map((path) => ({ asset: '', path: resolve(path), bytes: null, sha256: null, skipped }));
}

/** What is left running or not begun is no failure of the item; what the run ended with says why. */
function failureOf(state: RunOutcome['state']): Failure | null {
  return state.phase === 'failed' ? state.failure : null;
}
