/** The progress of the items of a batch, updated by events, with an estimate of the remaining time. */

import { formatBytes } from '../../base/amounts.ts';
import type { BatchEvent, BatchItem, ItemState } from '../../batch/item.ts';
import { describeCosts } from '../../batch/report/costs.ts';
import type { RunningWork, Step, WorkSummary } from '../context/context.ts';
import { formatDuration } from '../context/format.ts';

/** An item, its state, and since when, in milliseconds since 1970. */
export interface ItemProgress {
  readonly item: BatchItem;
  readonly state: ItemState;
  /** When work on it started; null before. */
  readonly begunMs: number | null;
  /** When its current phase started. */
  readonly phaseMs: number;
}

interface BatchProgress {
  /** Applies an event. For an event about an item, returns its progress before and after. */
  add(event: BatchEvent): { before: ItemProgress | null; now: ItemProgress } | null;
  look(nowMs: number): WorkSummary;
}

/** @param items known at the start; others may follow */
export function createBatchProgress(items: readonly BatchItem[]): BatchProgress {
  const byKey = new Map<string, ItemProgress>();
  for (const item of items) {
    byKey.set(item.key, { item, state: { phase: 'waiting' }, begunMs: null, phaseMs: 0 });
  }
  let cost: WorkSummary['cost'] = null;
  let slots: number | null = null;
  let stop: string | null = null;

  return {
    add(event) {
      switch (event.type) {
        case 'item': {
          const before = byKey.get(event.item.key) ?? null;
          const now = advance(before, event);
          byKey.set(event.item.key, now);
          return { before, now };
        }
        case 'part':
        case 'uploaded':
          return null;
        case 'credits':
          cost = event.isFree ? null : describeCosts(event);
          return null;
        case 'window':
          slots = event.size;
          return null;
        case 'stop':
          stop = event.message;
          return null;
      }
    },
    look(nowMs) {
      const all = [...byKey.values()];
      return {
        running: listRunning(all, nowMs),
        counts: countItems(all),
        leftMs: estimateLeft(all, nowMs),
        cost,
        slots,
        deadline: soonestDeadline(all),
        stop,
      };
    },
  };
}

function advance(
  before: ItemProgress | null,
  { item, state, atMs }: Extract<BatchEvent, { type: 'item' }>,
): ItemProgress {
  const begunMs = before?.begunMs ?? (isActive(state) ? atMs : null);
  const isSamePhase = before !== null && before.state.phase === state.phase && before.phaseMs > 0;
  return { item, state, begunMs, phaseMs: isSamePhase ? before.phaseMs : atMs };
}

/** In the order of their start, so that rows keep their places. */
function listRunning(followed: readonly ItemProgress[], nowMs: number): readonly RunningWork[] {
  return followed
    .flatMap(({ item, state, begunMs, phaseMs }) => {
      if (!isActive(state)) return [];
      return [{ label: item.label, step: stepOf(state, nowMs - phaseMs), since: begunMs ?? nowMs }];
    })
    .sort((left, right) => left.since - right.since);
}

function countItems(followed: readonly ItemProgress[]): WorkSummary['counts'] {
  const count = (wanted: (state: ItemState) => boolean) =>
    followed.filter(({ state }) => wanted(state)).length;
  return {
    total: followed.length,
    done: count(({ phase }) => phase === 'done'),
    running: count(isActive),
    waiting: count(({ phase }) => phase === 'waiting' || phase === 'ready'),
    failed: count(({ phase }) => phase === 'failed'),
    left: count(({ phase }) => phase === 'left'),
  };
}

function estimateLeft(followed: readonly ItemProgress[], nowMs: number): number | null {
  const begun = followed.flatMap(({ begunMs }) => begunMs ?? []);
  const elapsedMs = begun.length === 0 ? 0 : nowMs - Math.min(...begun);
  return estimateRemaining(followed.flatMap(shareOf), elapsedMs);
}

/** The share of the paid work that is finished; transfers are short in comparison. */
function shareOf({ item, state, begunMs }: ItemProgress): WorkShare[] {
  const units = item.units?.quantity ?? null;
  switch (state.phase) {
    case 'failed':
    case 'left':
      return [];
    case 'done':
      return begunMs === null ? [] : [{ units, fraction: 1 }];
    case 'processing':
      return [{ units, fraction: state.fraction }];
    case 'downloading':
      return [{ units, fraction: 1 }];
    default:
      return [{ units, fraction: 0 }];
  }
}

function soonestDeadline(followed: readonly ItemProgress[]): string | null {
  const deadlines = followed.flatMap(({ state }) =>
    state.phase === 'downloading' && state.expiresAt !== null ? [state.expiresAt] : [],
  );
  // Times with different zones cannot be sorted as text.
  return deadlines.sort((left, right) => Date.parse(left) - Date.parse(right))[0] ?? null;
}

/** Phases in which the item is in progress. */
const ACTIVE = [
  'preparing',
  'uploading',
  'validating',
  'submitting',
  'queued',
  'processing',
  'downloading',
] as const;
type ActiveState = Extract<ItemState, { phase: (typeof ACTIVE)[number] }>;

export function isActive(state: ItemState): state is ActiveState {
  return ACTIVE.some((phase) => phase === state.phase);
}

/**
 * The state of an item as a step of its progress.
 * @param forMs how long it has been in this phase
 */
export function stepOf(state: ActiveState, forMs: number): Step {
  switch (state.phase) {
    case 'preparing':
      return { phase: state.doing, fraction: state.fraction };
    case 'uploading':
      return stepOfUpload(state.bytes, state.total, forMs);
    case 'validating':
    case 'submitting':
      return { phase: state.phase, fraction: null };
    case 'queued':
      return { phase: 'queued', fraction: null };
    case 'processing':
      return { phase: state.stage ?? 'processing', fraction: state.fraction };
    case 'downloading':
      return downloadStep(state.bytes, state.total);
  }
}

/** A running upload with rate and remaining time. @param forMs how long it has run */
export function stepOfUpload(bytes: number, total: number, forMs: number): Step {
  // Avoids a division by zero for the first bytes.
  const rate = bytes / Math.max(0.001, forMs / 1000);
  const left = rate === 0 ? '' : `, ${formatDuration(((total - bytes) / rate) * 1000)} left`;
  return {
    phase: 'uploading',
    fraction: total === 0 ? 1 : bytes / total,
    detail: `${formatBytes(bytes)} of ${formatBytes(total)}, ${formatBytes(rate)}/s${left}`,
  };
}

function downloadStep(bytes: number, total: number | null): Step {
  if (total === null) return { phase: 'downloading', fraction: null, detail: formatBytes(bytes) };
  return {
    phase: 'downloading',
    fraction: total === 0 ? 1 : bytes / total,
    detail: `${formatBytes(bytes)} of ${formatBytes(total)}`,
  };
}

/** The facts about one item that the estimate uses. */
export interface WorkShare {
  /** Metered units; null if unknown. */
  readonly units: number | null;
  /** Finished fraction, 0 to 1. */
  readonly fraction: number;
}

/**
 * Estimates the remaining time in milliseconds from the pace of this run; null before the first
 * item is finished.
 * @param shares the items of this run, without failed ones and those done before
 * @param elapsedMs since the first of them started
 */
export function estimateRemaining(shares: readonly WorkShare[], elapsedMs: number): number | null {
  const usual = usualUnits(shares);
  let done = 0;
  let left = 0;
  for (const { units, fraction } of shares) {
    const size = units ?? usual;
    // Partly finished items count: otherwise the first estimate with 15 concurrent jobs is 15 times too long.
    done += size * fraction;
    left += size * (1 - fraction);
  }
  const hasPace = elapsedMs > 0 && shares.some(({ fraction }) => fraction === 1);
  return hasPace ? (elapsedMs * left) / done : null;
}

/** The mean of the known sizes; 1 if none is known. */
function usualUnits(shares: readonly WorkShare[]): number {
  const known = shares.flatMap(({ units }) => (units === null ? [] : [units]));
  if (known.length === 0) return 1;
  return known.reduce((sum, units) => sum + units, 0) / known.length;
}
