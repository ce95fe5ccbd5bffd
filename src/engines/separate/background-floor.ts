/**
 * Keeps the background as loud under speech as the pauses around show it. Without this, faint music, which is not worth
 * masking, would belong to the vocals while somebody speaks, and drop out of a dubbed video with every sentence.
 */
import type { PauseLevel, Survey } from './background-survey.ts';
import { amplitudes, BINS, type Gains, type Spectrum } from './spectrum.ts';

/**
 * What is this many times as strong as the background has been is voice that the mask has overlooked. On mixes at -10 dB
 * this takes 17 to 60 % of the voice out of the background; lower, it would take more of music that changes.
 */
const CEILING = 2;

/** Keeps divisions by silence finite; far below the smallest 16-bit sample. */
const TINY = 1e-12;

/**
 * Changes the gains of the vocals so that what they leave to the background has at least the amplitude that it has in
 * the pauses (spectral subtraction), and not far more. Where the voice is in the middle, the difference of the channels
 * is background as a whole, and shows how the background changes during the speech.
 * @returns a function for one spectrum of `mid + i·side` at a time in seconds
 */
export function createFloor(): (survey: Survey, time: number, mixed: Spectrum, gains: Gains) => void {
  const mid = new Float32Array(BINS);
  const side = new Float32Array(BINS);
  return (survey, time, mixed, gains) => {
    const { before, after } = survey;
    if (before === null && after === null) return;
    const share = shareOfAfter(before, after, time);
    amplitudes(mixed, mid, side);
    for (let bin = 0; bin < BINS; bin += 1) {
      const whole = mid[bin] ?? 0;
      const difference = side[bin] ?? 0;
      const paused = (1 - share) * (before?.mid[bin] ?? 0) + share * (after?.mid[bin] ?? 0);
      const shown = survey.centred ? survey.midPerSide * difference : 0;
      const background = Math.max(paused, shown) / (whole + TINY);
      raise(gains.first, bin, CEILING * background);
      lower(gains.first, bin, background);
      const sidePaused = (1 - share) * (before?.side[bin] ?? 0) + share * (after?.side[bin] ?? 0);
      lower(gains.second, bin, survey.centred ? 1 : sidePaused / (difference + TINY));
    }
  };
}

function raise(gains: Float32Array, bin: number, background: number): void {
  gains[bin] = Math.max(gains[bin] ?? 0, 1 - background);
}

function lower(gains: Float32Array, bin: number, background: number): void {
  gains[bin] = Math.min(gains[bin] ?? 0, Math.max(0, 1 - background));
}

/** How much the pause after counts, 0 to 1: it fades from the one before to the one after. */
function shareOfAfter(before: PauseLevel | null, after: PauseLevel | null, time: number): number {
  if (before === null) return 1;
  if (after === null) return 0;
  return Math.min(1, Math.max(0, (time - before.time) / (after.time - before.time)));
}
