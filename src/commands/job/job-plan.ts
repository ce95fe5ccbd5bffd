/** The plan of a job command, with what only the command line knows. */
import type { BatchPlan } from '../../batch/plan/batch-plan.ts';
import { freeBytes } from '../../batch/plan/disk-space.ts';
import type { InputProblem } from '../../batch/plan/input.ts';
import { planBatch } from '../../batch/plan/plan.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { Context } from '../context.ts';
import { readBodyFields } from './extra-fields.ts';
import { createDurationProbe } from './probe-duration.ts';
import { readHistory } from './read-history.ts';

/**
 * Checks operands and options all at once, and compares with what earlier runs have done.
 * @throws Failure of category usage that lists every problem found
 */
export async function planJobs(
  kind: JobKind,
  operands: readonly string[],
  options: Readonly<Record<string, unknown>>,
  context: Pick<Context, 'io' | 'signal'>,
): Promise<BatchPlan> {
  const { io } = context;
  const problems: InputProblem[] = [];
  const written = typeof options.body === 'string' ? options.body : undefined;
  const body = await readBodyFields(written, operands, io, problems);
  const { cwd, stdin } = io;
  return planBatch(
    { kind, operands, options, body, problems },
    { cwd, stdin, probeDuration: createDurationProbe(io.env), freeBytes },
    await readHistory(context, options),
  );
}
