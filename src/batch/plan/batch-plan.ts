/** Output of the planner. */
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { BatchItem } from '../item.ts';
import type { RenamedRecord } from './decide-items.ts';
import type { Decision } from './decision.ts';

export interface PlannedItem {
  readonly item: BatchItem;
  readonly decision: Decision;
  /** The files of its result, absolute; null if a name depends on what the job finds out. */
  readonly paths: readonly string[] | null;
  /** Counts of its remembered lines; missing where no memory is used. */
  readonly memory?: LineCounts | undefined;
  /** Its result; missing unless all of its lines are remembered. */
  readonly remembered?: readonly SubtitleLine[];
}

/** Lines of a translation. */
export interface LineCounts {
  readonly lines: number;
  readonly from_memory: number;
  /** The rest, unless it is paid already. */
  readonly to_pay: number;
}

export interface BatchPlan {
  /** The items of the shard, or all of them. */
  readonly planned: readonly PlannedItem[];
  /** Notes for the user: files that are prepared before they are sent. */
  readonly notes: readonly string[];
  /** See `DecidedItems`. */
  readonly renamed: readonly RenamedRecord[];
}
