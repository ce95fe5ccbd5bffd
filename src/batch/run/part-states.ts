/** Combines the states of the parts of an item into one state of the item, for progress and events. */
import type { BatchItem, BatchListener, ItemState } from '../item.ts';
import type { Run } from './run.ts';

/** Reports states of items; a state of a part is reported as a state of its item. */
export function createTeller(listen: BatchListener, now: () => number): Run['tell'] {
  /** By item key, then by number of the part. */
  const families = new Map<string, Map<number, ItemState>>();
  const say = (item: BatchItem, state: ItemState) => listen({ type: 'item', item, state, atMs: now() });
  return (item, state) => {
    const { part } = item;
    if (part === undefined) {
      if (isEnd(state)) families.delete(item.key);
      say(item, state);
      return;
    }
    const family = families.get(part.of.key) ?? new Map<number, ItemState>();
    const jobId = jobIdOf(state);
    if (jobId !== null && jobId !== jobIdOf(family.get(part.number))) {
      listen({ type: 'part', item: part.of, part: part.number, of: part.count, jobId });
    }
    families.set(part.of.key, family.set(part.number, state));
    const whole = combineStates([...family.values()], part.count);
    if (whole !== null) say(part.of, whole);
  };
}

function jobIdOf(state: ItemState | undefined): string | null {
  return state !== undefined && 'jobId' in state ? state.jobId : null;
}

function isEnd({ phase }: ItemState): boolean {
  return phase === 'done' || phase === 'failed' || phase === 'left';
}

type Of<P extends ItemState['phase']> = Extract<ItemState, { phase: P }>;

/**
 * The state of an item from the known states of its parts; null if there is nothing to report. The most advanced part decides
 * the phase, the sum of all parts the fraction.
 * @param count of all parts
 */
export function combineStates(states: readonly ItemState[], count: number): ItemState | null {
  const known = <P extends ItemState['phase']>(phase: P) =>
    // The filter has checked the phase.
    states.filter((state) => state.phase === phase) as Of<P>[];
  const done = known('done');
  const atWork = [...known('processing'), ...known('downloading')];
  const queued = known('queued');
  const jobId = [...atWork, ...queued].map((state) => state.jobId)[0];
  if (jobId !== undefined && (atWork.length > 0 || done.length > 0)) {
    const parts = `${done.length} of ${count} parts done`;
    const stage = known('processing').find((state) => state.stage !== null)?.stage;
    const sum = states.reduce((total, state) => total + shareOf(state), 0);
    const text = stage == null ? parts : `${stage}, ${parts}`;
    return { phase: 'processing', jobId, stage: text, fraction: sum / count };
  }
  if (queued[0] !== undefined) return queued[0];
  const uploading = known('uploading');
  if (uploading.length > 0) {
    const add = (pick: (state: Of<'uploading'>) => number) =>
      uploading.reduce((total, state) => total + pick(state), 0);
    return { phase: 'uploading', bytes: add(({ bytes }) => bytes), total: add(({ total }) => total) };
  }
  return known('submitting')[0] ?? known('validating')[0] ?? known('ready')[0] ?? null;
}

/** The fraction of the work on a part that is done. */
function shareOf(state: ItemState): number {
  if (state.phase === 'processing') return state.fraction;
  return state.phase === 'done' || state.phase === 'downloading' ? 1 : 0;
}
