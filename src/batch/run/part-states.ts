/** What those who watch hear of an item whose parts are under way: one state of the whole, made of those of the parts. */
import type { BatchItem, BatchListener, ItemState } from '../item.ts';
import type { Run } from './run.ts';

/** Reports items: each event of a part becomes a state of its item. */
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
 * The state of an item of so many parts, of which these are known; null while there is nothing to tell. The part that has
 * come farthest says what goes on, the sum of all how far it is.
 */
export function combineStates(states: readonly ItemState[], count: number): ItemState | null {
  const known = <P extends ItemState['phase']>(phase: P) =>
    // The filter has just looked at the phase.
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

/** How much of the work on a part is done. */
function shareOf(state: ItemState): number {
  if (state.phase === 'processing') return state.fraction;
  return state.phase === 'done' || state.phase === 'downloading' ? 1 : 0;
}
