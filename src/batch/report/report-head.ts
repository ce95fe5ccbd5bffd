import type { BatchFacts } from './batch-facts.ts';

/** What every form of a report says besides the facts. */
export interface ReportHead {
  /** The folder of results, absolute. */
  readonly folder: string;
  /** When the report was made, RFC 3339. */
  readonly madeAt: string;
}

/** States in which an item will get nowhere by itself. */
export const FAILED_STATES = ['failed', 'refused', 'cancelled', 'expired'] as const;
/** States in which something is still to be done. */
export const OPEN_STATES = ['undelivered', 'running', 'unanswered', 'waiting'] as const;

export function countFailed({ counts }: Pick<BatchFacts, 'counts'>): number {
  return FAILED_STATES.reduce((sum, state) => sum + counts[state], 0);
}

export function countOpen({ counts }: Pick<BatchFacts, 'counts'>): number {
  return OPEN_STATES.reduce((sum, state) => sum + counts[state], 0);
}
