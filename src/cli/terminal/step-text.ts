import type { Step } from '../../context/context.ts';

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
