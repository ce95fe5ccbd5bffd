import type { BatchPlan } from '../../batch/plan/batch-plan.ts';
import type { Context } from '../../context/context.ts';
import { Failure } from '../../errors/failure.ts';

/**
 * The plan with these items only. Some may not be in it any more: files that are gone, addresses whose query no record
 * keeps.
 * @throws Failure (`usage`) when none is
 */
export function pickItems(
  plan: BatchPlan,
  keys: ReadonlySet<string>,
  { terminal }: Pick<Context, 'terminal'>,
): BatchPlan {
  const planned = plan.planned.filter(({ item }) => keys.has(item.key));
  const missing = keys.size - planned.length;
  const message = `${missing} of ${keys.size} items to run again are not inputs of their command any more`;
  const advice =
    'Check that the files are where they were; addresses with a query are not kept, so run that command itself with --retry-failed.';
  if (planned.length === 0) throw new Failure({ category: 'usage', code: 'INPUTS_GONE', message, advice });
  if (missing > 0) terminal.warn(`${message}. ${advice}`);
  return { ...plan, planned };
}
