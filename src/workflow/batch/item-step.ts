/** The state of an item as a step of its progress. */
import type { ItemState } from '../../batch/item.ts';
import type { Step } from '../../context/context.ts';
import { formatDuration } from '../../context/format.ts';
import { formatBytes } from '../../errors/amounts.ts';

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
export type ActiveState = Extract<ItemState, { phase: (typeof ACTIVE)[number] }>;

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
