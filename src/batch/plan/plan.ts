/** What a job command is about to do, checked as far as it can be without the service. */
import type { BatchPlan, History, PlanIo, PlanRequest } from './batch-plan.ts';
import { namedPaths } from './candidate.ts';
import { collect } from './collect.ts';
import { decideItems, recordedResults, settle } from './decide-items.ts';
import { readDelivery } from './delivery.ts';
import { describePreparations } from './describe-preparations.ts';
import { checkSpace } from './disk-space.ts';
import { type InputProblem, unusable } from './input.ts';
import { findAlike } from './items.ts';
import { planItems } from './plan-items.ts';

/**
 * Checks operands and options all at once; nothing is sent, and nothing is written.
 * @throws Failure of category usage that lists every problem found, or disk when room is all that is missing
 */
export async function planBatch(request: PlanRequest, io: PlanIo, history: History): Promise<BatchPlan> {
  const { kind, options } = request;
  const delivery = readDelivery(kind, options, io);
  const problems: InputProblem[] = [...request.problems];
  const collection = await collect(request, io, problems);
  const results = recordedResults(history.recorded, delivery.folder);
  const { items, notes } = await planItems(
    request,
    collection.candidates,
    { delivery, results },
    io,
    problems,
  );
  problems.push(...findAlike(items.map(({ item }) => item)));
  const decisions = await decideItems(
    items.map(({ item }) => item),
    history.recorded,
    history.choices,
  );
  const planned = await settle(
    items,
    decisions,
    delivery,
    namedPaths(io.cwd, request.operands, options),
    problems,
  );
  const shortage = await checkSpace(planned, delivery, io);
  if (problems.length > 0 || shortage !== null) throw unusable(problems, shortage);
  return {
    kind,
    planned,
    delivery,
    notes: [...collection.notes, ...notes, ...describePreparations(planned)],
  };
}
