/** How `jobs wait` and `jobs download` end, in words: what failed, what goes on, and with which command. */
import type { Delivery } from '../../batch/plan/delivery.ts';
import type { Context } from '../../context/context.ts';
import type { Failure } from '../../errors/failure.ts';
import { deliveryCommand, EMBEDDED_STOPS } from './continuation.ts';
import { isStillRunning } from './follow-job.ts';
import { isLeft, type Outcome, summarizeFailures } from './job-outcomes.ts';

const FIX = 'Fix the problems above, then run the same command again: what was fetched is kept.';

/** The failure that the whole ends with; null for none. */
export function summarizeDelivery(
  outcomes: readonly Outcome[],
  delivery: Delivery,
  context: Context,
): Failure | null {
  const failed = outcomes.filter(({ failure }) => failure !== null);
  const running = failed.filter(({ failure }) => isStillRunning(failure));
  if (running.length === 0) return summarizeFailures(outcomes, 'jobs failed', FIX);
  const command = deliveryCommand('wait', running.map(idOf), delivery, context);
  if (running.length === failed.length) {
    return summarizeFailures(
      outcomes,
      'jobs are still running',
      `They are still running; wait for them with: ${command}`,
    );
  }
  const advice = `Some are still running; wait for them with: ${command}\n${FIX}`;
  return summarizeFailures(outcomes, 'jobs failed', advice);
}

/** Says on stderr how an interrupted run stands, and with which command to go on. */
export function tellStopped(
  { terminal }: Context,
  outcomes: readonly Outcome[],
  goOn: (ids: readonly string[]) => string,
  isEmbedded: boolean,
): void {
  const left = outcomes.filter(isLeft);
  if (left.length === 0 && outcomes.length > 0) return;
  const { note } = terminal;
  const counts = outcomes.length < 2 ? '' : `: ${left.length} of ${outcomes.length} have no result here yet`;
  note(`Stopped${counts}. The jobs continue and nothing is lost.`);
  if (isEmbedded) note(EMBEDDED_STOPS);
  note('Continue with:');
  note(`  ${goOn(left.map(idOf))}`);
}

function idOf({ job, label }: Outcome): string {
  return job?.id ?? label;
}
