/** How the items of a batch stand, kept up to date event by event, and when they will be finished. */
import type { BatchEvent, BatchItem, ItemState } from '../../batch/item.ts';
import type { RunningWork, Step, WorkPicture } from '../../context/context.ts';
import { formatDuration } from '../../context/format.ts';
import { formatBytes } from '../../errors/amounts.ts';

/** An item with the times that its states alone do not tell, milliseconds since 1970. */
export interface Sight {
  readonly item: BatchItem;
  readonly state: ItemState;
  /** When anything was done for it first; null before. */
  readonly begunMs: number | null;
  /** When its present phase began. */
  readonly phaseMs: number;
}

interface Picture {
  /** Takes an event in; for one of an item what was known of it before, and what is known now. */
  add(event: BatchEvent): { before: Sight | null; now: Sight } | null;
  look(nowMs: number): WorkPicture;
}

/** @param items those that are known from the beginning; others may come */
export function createPicture(items: readonly BatchItem[]): Picture {
  const sights = new Map<string, Sight>();
  for (const item of items) {
    sights.set(item.key, { item, state: { phase: 'waiting' }, begunMs: null, phaseMs: 0 });
  }
  let credits: WorkPicture['credits'] = null;
  let slots: number | null = null;
  let stop: string | null = null;

  return {
    add(event) {
      switch (event.type) {
        case 'item': {
          const before = sights.get(event.item.key) ?? null;
          const now = advance(before, event);
          sights.set(event.item.key, now);
          return { before, now };
        }
        case 'part':
        case 'uploaded':
          return null;
        case 'credits':
          credits = { reserved: event.reserved, charged: event.charged, unknown: event.unknown };
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
      const all = [...sights.values()];
      return {
        running: listRunning(all, nowMs),
        counts: countItems(all),
        leftMs: estimateRemaining(...workOf(all, nowMs)),
        credits,
        slots,
        deadline: soonestDeadline(all),
        stop,
      };
    },
  };
}

function advance(before: Sight | null, { item, state, atMs }: Extract<BatchEvent, { type: 'item' }>): Sight {
  const begunMs = before?.begunMs ?? (isActive(state) ? atMs : null);
  const isSamePhase = before !== null && before.state.phase === state.phase && before.phaseMs > 0;
  return { item, state, begunMs, phaseMs: isSamePhase ? before.phaseMs : atMs };
}

/** The order of their beginnings, so that no row overtakes another. */
function listRunning(sights: readonly Sight[], nowMs: number): readonly RunningWork[] {
  return sights
    .flatMap(({ item, state, begunMs, phaseMs }) => {
      if (!isActive(state)) return [];
      return [{ label: item.label, step: stepOf(state, nowMs - phaseMs), since: begunMs ?? nowMs }];
    })
    .sort((left, right) => left.since - right.since);
}

function countItems(sights: readonly Sight[]): WorkPicture['counts'] {
  const count = (wanted: (state: ItemState) => boolean) => sights.filter(({ state }) => wanted(state)).length;
  return {
    total: sights.length,
    done: count(({ phase }) => phase === 'done'),
    running: count(isActive),
    waiting: count(({ phase }) => phase === 'waiting' || phase === 'ready'),
    failed: count(({ phase }) => phase === 'failed'),
    left: count(({ phase }) => phase === 'left'),
  };
}

function workOf(sights: readonly Sight[], nowMs: number): [Share[], number] {
  const shares = sights.flatMap(({ item, state, begunMs }): Share[] => {
    const units = item.units?.quantity ?? null;
    if (state.phase === 'failed' || state.phase === 'left') return [];
    if (state.phase === 'done') {
      return begunMs === null ? [] : [{ units, state: 'finished', fraction: 1 }];
    }
    if (!isActive(state)) return [{ units, state: 'waiting', fraction: 0 }];
    return [{ units, state: 'going', fraction: fractionOf(state) }];
  });
  const begun = sights.flatMap(({ begunMs }) => (begunMs === null ? [] : [begunMs]));
  return [shares, begun.length === 0 ? 0 : nowMs - Math.min(...begun)];
}

/** How much of the paid work is done; the way to the service and back is short beside it. */
function fractionOf(state: ItemState): number {
  if (state.phase === 'processing') return state.fraction;
  return state.phase === 'downloading' ? 1 : 0;
}

function soonestDeadline(sights: readonly Sight[]): string | null {
  const deadlines = sights.flatMap(({ state }) =>
    state.phase === 'downloading' && state.expiresAt !== null ? [state.expiresAt] : [],
  );
  // Of times with a zone of their own the texts do not sort.
  return deadlines.sort((left, right) => Date.parse(left) - Date.parse(right))[0] ?? null;
}

/** States in which something goes on for the item. */
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
 * What the item is at.
 * @param forMs how long it has been in this phase
 */
export function stepOf(state: ActiveState, forMs: number): Step {
  switch (state.phase) {
    case 'preparing':
      return { phase: state.doing, fraction: state.fraction };
    case 'uploading':
      return uploadStep(state.bytes, state.total, forMs);
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

/** With rate and time left. */
function uploadStep(bytes: number, total: number, forMs: number): Step {
  // The first bytes come with no time passed.
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

/** One item as far as the estimate is concerned. */
export interface Share {
  /** By what it is metered; null while unknown. */
  readonly units: number | null;
  readonly state: 'finished' | 'going' | 'waiting';
  /** How much of it is done, 0 to 1; null while it does not tell. */
  readonly fraction: number | null;
}

/**
 * The expected time to the end in milliseconds, at the pace of what this run has done so far; null before the first
 * item is finished, since until then nobody knows how long one takes.
 * @param shares what this run does: neither what was done before nor what failed
 * @param elapsedMs since the first of them began
 */
export function estimateRemaining(shares: readonly Share[], elapsedMs: number): number | null {
  const usual = usualUnits(shares);
  let done = 0;
  let left = 0;
  for (const { units, state, fraction } of shares) {
    const size = units ?? usual;
    // Half-done items count: else the first estimate of fifteen that run side by side is fifteen times too long.
    const part = state === 'finished' ? 1 : state === 'waiting' ? 0 : (fraction ?? 0);
    done += size * part;
    left += size * (1 - part);
  }
  const hasPace = done > 0 && elapsedMs > 0 && shares.some(({ state }) => state === 'finished');
  return hasPace ? (elapsedMs * left) / done : null;
}

/** The mean of the known sizes; one for all where none is known. */
function usualUnits(shares: readonly Share[]): number {
  const known = shares.flatMap(({ units }) => (units === null ? [] : [units]));
  if (known.length === 0) return 1;
  return known.reduce((sum, units) => sum + units, 0) / known.length;
}
