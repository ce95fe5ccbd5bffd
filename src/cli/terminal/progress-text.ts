/** Progress in words: the step of one item, and the totals of many. */

import type { Step, WorkSummary } from '../../commands/context/context.ts';
import { formatDuration, formatRelative } from '../../commands/context/format.ts';

/** `dubbing 40 %` or `uploading 12 %, 3.1 of 27 MB`. */
export function describeStep(step: Step): string {
  const percent = step.fraction === null ? '' : ` ${Math.floor(step.fraction * 100)} %`;
  return `${step.phase}${percent}${step.detail === undefined ? '' : `, ${step.detail}`}`;
}

const BAR_CELLS = 20;

/** `━━━━━━━━────────────`; all of one weight while the fraction is unknown. */
export function drawBar(fraction: number | null): string {
  const filled = Math.round(Math.min(1, Math.max(0, fraction ?? 0)) * BAR_CELLS);
  return '━'.repeat(filled) + '─'.repeat(BAR_CELLS - filled);
}

/** `120 of 400 done, 15 running, 263 waiting, 2 failed`; zero counts are omitted. */
export function describeCounts({ counts }: Pick<WorkSummary, 'counts'>): string {
  const { total, done, running, waiting, failed, left } = counts;
  const rest = [
    [running, 'running'],
    [waiting, 'waiting'],
    [failed, 'failed'],
    [left, 'left for the next run'],
  ] as const;
  const named = rest.flatMap(([count, name]) => (count === 0 ? [] : [`${count} ${name}`]));
  return [`${done} of ${total} done`, ...named].join(', ');
}

/** Time left, cost, slots, the next deadline and why nothing more is begun, as far as they are known. */
export function describeOutlook(picture: WorkSummary, now: number): readonly string[] {
  const { counts, leftMs, cost, slots, deadline, stop } = picture;
  const isUnderWay = counts.running + counts.waiting > 0;
  const parts: string[] = [];
  if (leftMs !== null && isUnderWay) parts.push(describeLeft(leftMs));
  if (cost !== null) parts.push(cost);
  if (slots !== null) parts.push(slots === 1 ? '1 slot' : `${slots} slots`);
  if (deadline !== null) parts.push(`next download link expires ${formatRelative(deadline, now)}`);
  if (stop !== null) parts.push(stop);
  return parts;
}

const MINUTE_MS = 60_000;

/** In whole minutes: an estimate that counts seconds jumps, and is not that good. */
function describeLeft(ms: number): string {
  if (ms < MINUTE_MS) return 'less than a minute left';
  return `about ${formatDuration(Math.round(ms / MINUTE_MS) * MINUTE_MS)} left`;
}
