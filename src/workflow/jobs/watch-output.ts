/** What a watch puts out: while it goes on, since nobody knows its end, and when it was stopped. */
import type { BatchEvent } from '../../batch/item.ts';
import type { InputProblem } from '../../batch/plan/input.ts';
import type { RunOutcome } from '../../batch/run/batch.ts';
import type { Context } from '../../context/context.ts';
import { toOutcome } from './batch-outcome.ts';
import { tellContinuation } from './continuation.ts';
import type { JobRun } from './job-run.ts';
import { printOutcomes } from './outcome.ts';

/** True for forms that are lines of one item each, so that a reader need not wait for the end. */
function isStreamed({ output, fields }: Pick<Context, 'output' | 'fields'>): boolean {
  return output === 'id' || (output === 'plain' && fields === null);
}

/** Writes to stdout what this run has done, as it is done. */
export function printAsDone(context: Context, event: BatchEvent): void {
  if (!isStreamed(context) || event.type !== 'item') return;
  const { state } = event;
  if (state.phase !== 'done' || state.before !== null) return;
  if (context.output === 'plain') for (const { path } of state.files) context.print(path);
  else if (state.jobId !== null) context.print(state.jobId);
}

/** Says that an input is not worked on. */
export function tellLeftOut({ terminal, output, print }: Context, { pointer, detail }: InputProblem): void {
  terminal.warn(`Skipped: ${pointer}: ${detail}`);
  if (output === 'ndjson') print(JSON.stringify({ type: 'left_out', input: pointer, message: detail }));
}

/** Writes the end: the work of this run, without what was done before it, and how to go on. */
export async function printWatch(
  { context, delivery, connection }: JobRun,
  outcomes: readonly RunOutcome[],
): Promise<void> {
  const own = outcomes.filter(({ state }) => state.phase !== 'done' || state.before === null);
  const isWritten = isStreamed(context) || context.output === 'ndjson';
  // Everything that is done was done by this run, so no plan has to name its files.
  if (!isWritten)
    await printOutcomes(
      context,
      own.map((outcome) => toOutcome(outcome, undefined)),
    );
  context.terminal.note(`Stopped watching: ${countOutcomes(own)}.`);
  tellContinuation(context, own, delivery, connection.capabilities !== null);
}

function countOutcomes(outcomes: readonly RunOutcome[]): string {
  const count = (wanted: (outcome: RunOutcome) => boolean) => outcomes.filter(wanted).length;
  const running = count(({ state }) => state.phase === 'left' && state.jobId !== null);
  const parts = [
    [count(({ state }) => state.phase === 'done'), 'done'],
    [running, 'running'],
    [count(({ state }) => state.phase === 'left') - running, 'not begun'],
    [count(({ state }) => state.phase === 'failed'), 'failed'],
  ] as const;
  const told = parts.filter(([number], position) => position === 0 || number > 0);
  return told.map(([number, what]) => `${number} ${what}`).join(', ');
}
