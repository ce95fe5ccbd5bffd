/** Finds the speech of each subtitle line in the loudness of a track, and rates how it fits. */

import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { LineFit } from './page-facts.ts';

/** Loudness of a track: decibels below full scale, one value for every `stepMs`. */
export interface Loudness {
  readonly stepMs: number;
  readonly decibels: Int8Array;
}

/** Word endings are about 25 dB quieter than stressed vowels; the noise of a room is quieter still. */
const BELOW_LOUD_DECIBELS = 30;
/** Anything quieter is silence, even in a quiet track. */
const SILENCE_DECIBELS = -55;
/** The level of loud speech; a quantile, so that a single loud click does not count. */
const LOUD_QUANTILE = 0.95;
/** A syllable lasts longer than two steps; a click does not. */
const SHORTEST_STEPS = 2;

/**
 * Measures the speech of each line, from the start of its slot to the start of the next one, since speech may be longer than
 * its slot.
 * @param lines in order of time
 */
export function measureFit(lines: readonly SubtitleLine[], loudness: Loudness): LineFit[] {
  const threshold = speechThreshold(loudness.decibels);
  return lines.map((line, at) => {
    const next = lines[at + 1]?.start_ms ?? Number.POSITIVE_INFINITY;
    // Two lines at the same time are spoken in sequence, so the first may use the whole slot.
    const until = next > line.start_ms ? next : line.end_ms;
    return {
      index: line.index,
      slot_start_ms: line.start_ms,
      slot_end_ms: line.end_ms,
      speech: findSpeech(loudness, threshold, line.start_ms, until),
    };
  });
}

/** Decibels from which a step counts as speech. */
function speechThreshold(decibels: Int8Array): number {
  const heard = decibels.filter((level) => level > SILENCE_DECIBELS).sort();
  const loud = heard[Math.floor(heard.length * LOUD_QUANTILE)] ?? SILENCE_DECIBELS;
  return Math.max(SILENCE_DECIBELS, loud - BELOW_LOUD_DECIBELS);
}

function findSpeech(
  { stepMs, decibels }: Loudness,
  threshold: number,
  fromMs: number,
  untilMs: number,
): LineFit['speech'] {
  const begin = Math.floor(fromMs / stepMs);
  const end = Math.min(decibels.length, Math.ceil(untilMs / stepMs));
  let first: number | null = null;
  let last = 0;
  let run = 0;
  for (let step = begin; step < end; step += 1) {
    run = (decibels[step] ?? Number.NEGATIVE_INFINITY) > threshold ? run + 1 : 0;
    if (run < SHORTEST_STEPS) continue;
    first ??= step - SHORTEST_STEPS + 1;
    last = step + 1;
  }
  return first === null ? null : { start_ms: first * stepMs, end_ms: last * stepMs };
}

/** Speech stands out by this much from the sound around it, or where it ends cannot be heard. */
const ABOVE_BACKGROUND_DECIBELS = 10;
/** How much louder loud speech is than its quietest sounds that still count. */
const LOUD_ABOVE_DECIBELS = 6;
/** Within a sentence; a longer pause ends it. */
const PAUSE_STEPS = 15;
/** After the end of a line its voice may continue for a while. Two seconds on each side show the background. */
const TAIL_STEPS = 25;
const NEARBY_STEPS = 100;
/** The background is music with a beat, or another voice, if more of it is as loud as speech. */
const LOUD_SHARE = 0.1;

/**
 * The same for a track in which the voice is mixed with a background. A line is unclear if the sound around it is not
 * quiet enough to hear where its speech ends.
 * @param lines in order of time
 */
export function measureMixedFit(lines: readonly SubtitleLine[], loudness: Loudness): LineFit[] {
  const { stepMs, decibels } = loudness;
  const stepOf = (ms: number) => Math.min(decibels.length, Math.max(0, Math.round(ms / stepMs)));
  let quietFrom = 0;
  return lines.map((line, at) => {
    const [start, end] = [stepOf(line.start_ms), stepOf(line.end_ms)];
    const next = Math.max(end, stepOf(lines[at + 1]?.start_ms ?? Number.POSITIVE_INFINITY));
    const before = decibels.subarray(Math.max(quietFrom, start - NEARBY_STEPS), Math.max(quietFrom, start));
    const after = decibels.subarray(Math.min(next, end + TAIL_STEPS), Math.min(next, end + NEARBY_STEPS));
    quietFrom = Math.min(next, end + TAIL_STEPS);
    return {
      index: line.index,
      slot_start_ms: line.start_ms,
      slot_end_ms: line.end_ms,
      speech: findMixedSpeech(loudness, [start, end, next], [...before, ...after]),
    };
  });
}

function findMixedSpeech(
  { stepMs, decibels }: Loudness,
  [start, end, next]: readonly [start: number, end: number, next: number],
  around: readonly number[],
): LineFit['speech'] {
  const background = quantile(around, 0.5);
  const loud = quantile([...decibels.subarray(start, end)], 0.9);
  // Without a pause on either side, the background is unknown.
  if (background === null || loud === null) return 'unclear';
  const threshold = Math.max(SILENCE_DECIBELS, background + ABOVE_BACKGROUND_DECIBELS);
  const isBusy = around.filter((level) => level > threshold).length > around.length * LOUD_SHARE;
  if (isBusy) return 'unclear';
  if (loud <= threshold + LOUD_ABOVE_DECIBELS) return loud <= SILENCE_DECIBELS ? null : 'unclear';
  const first = decibels.subarray(start, end).findIndex((level) => level > threshold);
  let last = start + first;
  for (let step = last; step < next && (step < end || step - last <= PAUSE_STEPS); step += 1) {
    if ((decibels[step] ?? Number.NEGATIVE_INFINITY) > threshold) last = step + 1;
  }
  return { start_ms: (start + first) * stepMs, end_ms: last * stepMs };
}

function quantile(levels: readonly number[], share: number): number | null {
  const sorted = levels.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length * share)] ?? null;
}

/** A tenth of a second: viewers do not notice less, and loudness is measured in steps of 20 ms. */
const TOLERATED_MS = 100;

interface FitRating {
  readonly grade: 'fits' | 'over' | 'silent' | 'unclear';
  readonly slotMs: number;
  readonly speechMs: number;
  /** How much longer speech is than its slot; 0 if it fits. */
  readonly overMs: number;
}

/** Rates one line: its speech fits the slot, ends too late, is missing, or cannot be distinguished from other sounds. */
export function rateFit(line: LineFit): FitRating {
  const slotMs = line.slot_end_ms - line.slot_start_ms;
  if (line.speech === 'unclear') return { grade: 'unclear', slotMs, speechMs: 0, overMs: 0 };
  if (line.speech === null) return { grade: 'silent', slotMs, speechMs: 0, overMs: 0 };
  const overMs = Math.max(0, line.speech.end_ms - line.slot_end_ms);
  const speechMs = line.speech.end_ms - line.speech.start_ms;
  return { grade: overMs > TOLERATED_MS ? 'over' : 'fits', slotMs, speechMs, overMs };
}
