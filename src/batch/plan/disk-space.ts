/** Checks the disk space for the results. Only a certain shortage is reported. */
import { formatBytes } from '../../base/amounts.ts';
import { bytesToSend, type InputProblem, isPrepared, isSplit } from '../input.ts';
import type { Delivery } from '../inputs/delivery.ts';
import type { PlanIo } from '../inputs/plan-request.ts';
import type { BatchItem } from '../item.ts';
import type { PlannedItem } from './batch-plan.ts';

/** Minimum size of sound in bytes per second: 16 bits, one channel, 22,050 samples. */
const WAV_BYTES_PER_SECOND = 2 * 22_050;

type SpacedItem = Pick<BatchItem, 'kind' | 'input' | 'fields' | 'sound'>;

/** Minimum size of the result of an item, in bytes; 0 if unknown. */
function leastBytes({ kind, input, fields, sound }: SpacedItem): number {
  switch (kind) {
    case 'auto_localization':
      return input.type === 'file' && sound === undefined && !isEncodedAnew(fields) ? bytesToSend(input) : 0;
    case 'audio_separation':
      return input.type === 'file' ? 2 * (input.seconds ?? 0) * WAV_BYTES_PER_SECOND : 0;
    case 'dubbing':
      return input.type === 'lines' ? ((input.lines.at(-1)?.end_ms ?? 0) / 1000) * WAV_BYTES_PER_SECOND : 0;
    case 'subtitle_recognition':
    case 'subtitle_translation':
      return 0;
  }
}

/** A copied picture keeps its size. A re-encoded one may become much smaller. */
export function isEncodedAnew({
  resolution = 'source',
  subtitle_output: subtitles,
}: BatchItem['fields']): boolean {
  return resolution !== 'source' || subtitles === 'burned';
}

/** Files prepared at a time. The space of one is free before the next starts. */
const PREPARED_AT_A_TIME = 2;

/**
 * Minimum size of prepared files and of the results of parts before they are joined, in bytes.
 * @param items that still need a job
 */
function leastRoomAside(items: readonly SpacedItem[]): number {
  const made = new Map<string, number>();
  for (const { input } of items) {
    if (input.type !== 'file' || !isPrepared(input)) continue;
    const { conversion = null } = input.preparation ?? {};
    // A re-encoded file may become much smaller.
    if (conversion === null || conversion === 'remuxed') made.set(input.path, bytesToSend(input));
  }
  const largest = [...made.values()].toSorted((left, right) => right - left).slice(0, PREPARED_AT_A_TIME);
  const parts = items.filter(({ input }) => isSplit(input)).map(leastBytes);
  // Only the parts that are joined last are certain to exist beside their joined result.
  return sum(largest) + Math.max(0, ...parts);
}

function sum(bytes: readonly number[]): number {
  return bytes.reduce((total, each) => total + each, 0);
}

/** The lack of space for the results of items that still need a job; null if there is enough. */
export async function checkSpace(
  planned: readonly PlannedItem[],
  { folder }: Delivery,
  io: Pick<PlanIo, 'freeBytes'>,
): Promise<InputProblem | null> {
  const due = planned.filter(({ decision: { step } }) => step === 'new' || step === 'continue');
  const items = due.map(({ item }) => item);
  const needed = sum(items.map(leastBytes)) + leastRoomAside(items);
  const free = needed === 0 ? null : await io.freeBytes(folder);
  if (free === null || needed <= free) return null;
  const detail = `has ${formatBytes(free)} free, but the results need at least ${formatBytes(needed)}`;
  return { pointer: folder, detail };
}
