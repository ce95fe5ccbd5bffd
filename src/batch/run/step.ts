/**
 * The steps of which the result of an item is made. A recipe is a pure function: it names the step of the result, with all that it
 * needs, from what the steps before it have made. `run-steps.ts` carries them out.
 */
import type { BatchItem, ItemFile, ItemState } from '../item.ts';
import type { Run } from './run.ts';

/** One thing that is made once and kept: by a paid job, or by work on this machine. */
export type Step = JobStep | WorkStep<unknown>;

/** A step of any recipe, whose needs are of the same kind. */
export interface AnyStep<S> {
  readonly does: string;
  /** Unique among the steps of the item. */
  readonly id: string;
  readonly needs: readonly S[];
}

/** @typeParam W the work of the recipe */
export interface JobStep<W = WorkStep<unknown>> extends AnyStep<JobStep<W> | W> {
  readonly does: 'job';
  /** What is sent. The records know the step by its key. */
  readonly part: BatchItem;
  /** Jobs of one group are paid together or not at all: one of them alone is useless. */
  readonly group?: 'parts';
  /** The number in the subtitles of each cue that is sent; null for one whose sound is not used. Missing if they are the same. */
  readonly numbers?: readonly (number | null)[];
}

export interface WorkStep<T> {
  readonly does: 'copy' | 'cut' | 'gather' | 'join' | 'keep' | 'merge' | 'patch' | 'recall' | 'restore';
  readonly id: string;
  readonly needs: readonly Step[];
  /** @throws Failure, Stopped, the reason of the signal */
  readonly make: (bench: Bench) => Promise<T>;
}

/** Where the work of a step is done. */
export interface Bench {
  readonly run: Run;
  readonly item: BatchItem;
  /** Of the item in the batch. */
  readonly order: number;
  /** Calls it when the item has ended. */
  atEnd(cleanUp: () => void): void;
}

/** The result of a job. */
export interface JobResult {
  readonly jobId: string;
  readonly files: readonly ItemFile[];
}

/** What the finished steps of an item have made; undefined for the others. */
export interface Known {
  result(step: JobStep): JobResult | undefined;
  value<T>(step: WorkStep<T>): T | undefined;
}

export type Made = Extract<ItemState, { phase: 'done' }>;

/** Always returns the step of the result, and always the same step under an id. */
export type Recipe = (known: Known) => WorkStep<Made>;

/** Work that needs nothing but the steps named. */
export function work<T>(
  does: WorkStep<T>['does'],
  needs: readonly Step[],
  make: WorkStep<T>['make'],
): WorkStep<T> {
  return { does, id: does, needs, make };
}

export function jobOf<W = WorkStep<unknown>>(
  part: BatchItem,
  needs: JobStep<W>['needs'],
  how: Pick<JobStep, 'group' | 'numbers'> = {},
): JobStep<W> {
  return { does: 'job', id: part.key, needs, part, ...how };
}

/** The results of jobs, in their order, without those that are not done. */
export function resultsOf(known: Known, jobs: readonly JobStep[]): readonly JobResult[] {
  return jobs.flatMap((job) => known.result(job) ?? []);
}

/** All steps that a step needs, each once, those that are needed first before the others, and itself last. */
export function stepsOf<S extends AnyStep<S>>(step: S, found = new Map<string, S>()): readonly S[] {
  for (const need of step.needs) if (!found.has(need.id)) stepsOf(need, found);
  found.set(step.id, step);
  return [...found.values()];
}

/** The jobs among them, in their order. */
export function jobsOf<W extends AnyStep<JobStep<W> | W>>(step: JobStep<W> | W): readonly JobStep<W>[] {
  return stepsOf<JobStep<W> | W>(step).filter((each): each is JobStep<W> => each.does === 'job');
}
