/** How the items of a batch stand, kept up to date event by event. */
import type { BatchEvent, BatchItem, ItemState } from '../../batch/item.ts';
import type { RunningWork, WorkPicture } from '../../context/context.ts';
import { isActive, stepOf } from './item-step.ts';
import { estimateRemaining, type Share } from './remaining.ts';

/** An item with the times that its states alone do not tell, milliseconds since 1970. */
export interface Sight {
  readonly item: BatchItem;
  readonly state: ItemState;
  /** When anything was done for it first; null before. */
  readonly begunMs: number | null;
  /** When its present phase began. */
  readonly phaseMs: number;
}

export interface Picture {
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
