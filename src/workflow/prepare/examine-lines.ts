/** Subtitles with more lines than the service takes at once: cut at gaps where the user allows it, else refused. */
import type { PlanIo } from '../../batch/plan/batch-plan.ts';
import { unitsOfLines } from '../../batch/plan/items.ts';
import type { LongLimits } from '../../context/long-limits.ts';
import { serviceLimits } from '../../context/long-limits.ts';
import type { JobKind } from '../../protocol/kind-names.ts';

/** @param limits omitted: those of the service */
export function createLinesExaminer(
  kind: JobKind,
  isSplit: boolean,
  limits: LongLimits | undefined,
): PlanIo['examineLines'] {
  return async (lines) => {
    const { lines: most } = limits ?? (await serviceLimits());
    if (lines.length <= most) return { type: 'usable', parts: null };
    const { describeSplitCost, splitSubtitle } = await import('../../prepare/index.ts');
    const parts = splitSubtitle(lines, most);
    if (isSplit) return { type: 'usable', parts };
    const { unit, quantity: units } = unitsOfLines(kind, parts);
    const { quantity: unitsWhole } = unitsOfLines(kind, [{ lines }]);
    const cost = describeSplitCost({ parts: parts.length, unit, units, unitsWhole });
    const detail = `it has ${lines.length} lines, and the service takes ${most} per job; ${cost}, for each language`;
    return { type: 'problem', detail };
  };
}
