/** What goes into a plan, and what comes out. */
import type { JobKind } from '../../protocol/kind-names.ts';
import type { BatchItem } from '../item.ts';
import type { Candidate } from './candidate.ts';
import type { Choices } from './decide-items.ts';
import type { Decision, Recorded } from './decision.ts';
import type { Delivery } from './delivery.ts';
import type { InputProblem } from './input.ts';

export interface PlanRequest {
  readonly kind: JobKind;
  readonly operands: readonly string[];
  /** By option name, as the parser hands them over. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Request fields from outside the options, such as --body. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Found before; told together with those found here. */
  readonly problems: readonly InputProblem[];
  /** Of the files that folders hold only these, and none is not a problem; omitted: all of them. */
  readonly isWanted?: FileFilter;
}

/** Asked before anything of the file is read. */
export type FileFilter = (found: Pick<Candidate, 'path' | 'name'>) => boolean;

export interface PlannedItem {
  readonly item: BatchItem;
  readonly decision: Decision;
  /** Where its results go, absolute; null while that depends on what the job finds out. */
  readonly paths: readonly string[] | null;
}

export interface BatchPlan {
  readonly kind: JobKind;
  readonly planned: readonly PlannedItem[];
  readonly delivery: Delivery;
  /** Notes for the user: skipped files, names of the same file. */
  readonly notes: readonly string[];
}

/** What has been done before: the journal of the folder, and how to compare with it. */
export interface History {
  readonly recorded: Recorded;
  readonly choices: Choices;
}
