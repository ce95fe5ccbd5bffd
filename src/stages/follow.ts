/** What the outcome of a stage's job means for a video in a language. */
import type { BatchItem } from '../batch/item.ts';
import type { RunOutcome } from '../batch/run/batch.ts';
import type { Journey } from './session.ts';

/** Takes up the outcome: a job that was not done ends the journey with what it ended with. */
export function follow(
  journey: Journey,
  item: BatchItem | undefined,
  outcomes: ReadonlyMap<string, RunOutcome>,
): void {
  const outcome = item === undefined ? undefined : outcomes.get(item.key);
  if (item === undefined || outcome === undefined) return;
  const { state } = outcome;
  journey.jobId = state.jobId ?? journey.jobId;
  if (state.phase !== 'done') journey.end ??= state;
}
