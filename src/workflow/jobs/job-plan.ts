/** The plan of a job command, with what only the command line knows. */

import type { BatchPlan, FileFilter, PlanIo, PlanRequest } from '../../batch/plan/batch-plan.ts';
import type { InputProblem } from '../../batch/plan/input.ts';
import { nameOfKey } from '../../batch/plan/item-key.ts';
import { planBatch } from '../../batch/plan/plan.ts';
import type { Context } from '../../context/context.ts';
import { freeBytes } from '../../disk/free-bytes.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { createLinesExaminer } from '../prepare/examine-lines.ts';
import { createVideoExaminer } from '../prepare/examine-video.ts';
import { readWishes } from '../prepare/wishes.ts';
import { readBodyFields } from './extra-fields.ts';
import { readHistory, type Warned, warnOfDamage } from './read-history.ts';
import { SUBTITLE_IO } from './subtitle-io.ts';

/**
 * Checks operands and options all at once, and compares with what earlier runs have done.
 * @param only keys of the items that matter: of the files in folders others are not looked at; null for all
 * @throws Failure of category usage that lists every problem found
 */
export async function planJobs(
  kind: JobKind,
  operands: readonly string[],
  options: Readonly<Record<string, unknown>>,
  context: Pick<Context, 'io' | 'signal'> & Warned,
  only: ReadonlySet<string> | null = null,
): Promise<BatchPlan> {
  const request = await readRequest(kind, operands, options, context.io);
  const history = await readHistory(context, options);
  warnOfDamage(context, history);
  const planIo = createPlanIo(context.io, { kind, options, signal: context.signal });
  if (only === null) return planBatch(request, planIo, history);
  const names = new Set([...only].map(nameOfKey));
  const isWanted: FileFilter = ({ name }) => names.has(name);
  return planBatch({ ...request, isWanted }, planIo, history);
}

/** What a plan is made of, with the fields of --body and the problems found in them. */
export async function readRequest(
  kind: JobKind,
  operands: readonly string[],
  options: Readonly<Record<string, unknown>>,
  io: Context['io'],
): Promise<PlanRequest> {
  const problems: InputProblem[] = [];
  const written = typeof options.body === 'string' ? options.body : undefined;
  const body = await readBodyFields(written, operands, io, problems);
  return { kind, operands, options, body, problems };
}

/** What decides how inputs are looked at. */
export interface PlanWishes {
  readonly kind: JobKind;
  /** Of the command, by name. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

export function createPlanIo({ cwd, stdin, env, limits }: Context['io'], wishes: PlanWishes): PlanIo {
  const { kind, options, signal } = wishes;
  const allowed = readWishes(options);
  const examiner = { kind, wishes: allowed, searchPath: env.PATH ?? '', limits, signal };
  return {
    cwd,
    stdin,
    examineVideo: createVideoExaminer(examiner),
    examineLines: createLinesExaminer(kind, allowed.split, limits),
    freeBytes,
    ...SUBTITLE_IO,
  };
}
