/** Finds clicks, which are background even under speech, and replaces them with sound as it is beside them. */
import type { WavReader } from '../../media/audio/wav.ts';

/** A range of frames of a 48 kHz file. */
export interface Click {
  readonly start: number;
  /** The first frame after it. */
  readonly end: number;
}

/** Energies are measured over half a millisecond. */
const SLOT = 24;
/** A click is shorter than 5 ms on each side of its loudest slot. The burst of a consonant is longer. */
const REACH = 10;
/** Speech has a pulse in each period of the voice, down to 55 Hz, so one of these 18 ms contains a pulse too. */
const BESIDE = 36;
/** A click is this many times stronger than everything beside it (12 dB). One sound in ten seconds of clean speech is too. */
const STRONGER = 16;
/** Weaker slots belong to the click only if they are this many times stronger than the sound beside it. */
const EDGE = 2;
/** The mean square of the second difference of noise in the last two bits of a sample. */
const NOISE = 24;
/** Frames that must be known before and after the range in which clicks are looked for. */
export const CLICK_MARGIN = SLOT * (REACH + BESIDE + 1);

/**
 * Finds the clicks whose loudest slot is within a block.
 * @param stereo the block, with `CLICK_MARGIN` frames before and after it
 * @param position of the block's first frame in the file, a multiple of 24
 */
export function findClicks(stereo: Int16Array, position: number): Click[] {
  const slots = slotEnergies(stereo);
  const first = CLICK_MARGIN / SLOT;
  const clicks: Click[] = [];
  for (let at = first; at < slots.length - first; at += 1) {
    const energy = slots[at] ?? 0;
    if (energy <= STRONGER * NOISE || !isPeak(slots, at)) continue;
    const beside = Math.max(
      NOISE,
      highest(slots, at - REACH - BESIDE, at - REACH),
      highest(slots, at + REACH + 1, at + REACH + BESIDE + 1),
    );
    if (energy < STRONGER * beside) continue;
    let from = at;
    let to = at + 1;
    while (from > at - REACH && (slots[from - 1] ?? 0) > EDGE * beside) from -= 1;
    while (to < at + REACH && (slots[to] ?? 0) > EDGE * beside) to += 1;
    // One slot more on each side, because a click seldom begins with a slot.
    const origin = position - CLICK_MARGIN;
    clicks.push({ start: origin + (from - 1) * SLOT, end: origin + (to + 1) * SLOT });
  }
  return clicks;
}

/** Returns the mean square of the second difference, which contains little of a voice and much of a click. */
function slotEnergies(stereo: Int16Array): Float64Array {
  const energies = new Float64Array(Math.floor(stereo.length / 2 / SLOT));
  for (let at = 4; at < 2 * SLOT * energies.length; at += 1) {
    const bend = (stereo[at] ?? 0) - 2 * (stereo[at - 2] ?? 0) + (stereo[at - 4] ?? 0);
    const slot = Math.floor(at / (2 * SLOT));
    energies[slot] = (energies[slot] ?? 0) + (bend * bend) / (2 * SLOT);
  }
  return energies;
}

function isPeak(slots: Float64Array, at: number): boolean {
  const energy = slots[at] ?? 0;
  return energy > highest(slots, at - REACH, at) && energy >= highest(slots, at + 1, at + REACH + 1);
}

function highest(slots: Float64Array, from: number, to: number): number {
  let most = 0;
  for (let at = from; at < to; at += 1) most = Math.max(most, slots[at] ?? 0);
  return most;
}

/** Sound of this length on each side of a click is compared with the sound that could replace it: 5 ms. */
const TEMPLATE = 240;
/** The replacement comes from at most 20 ms away: a period of the lowest voice, and the same sound. */
const FARTHEST = 960;
/** Frames over which the replacement is faded in and out: 0.25 ms. */
const FADE = 12;

/**
 * Returns the same sound without clicks.
 * @param clicks in order of time; may grow while the result is in use
 */
export function withoutClicks(mix: WavReader, clicks: readonly Click[]): WavReader {
  const read = async (position: number, count: number): Promise<Int16Array> => {
    const samples = await mix.read(position, count);
    const inside = clicksWithin(clicks, position, position + count);
    if (inside.length === 0) return samples;
    const repaired = samples.slice(); // the next read may reuse the array
    for (const click of inside) {
      const before = FARTHEST + TEMPLATE;
      const origin = click.start - before;
      const around = (await mix.read(origin, click.end - click.start + 2 * before)).slice();
      for (const channel of [0, 1]) replace(around, before, click.end - click.start, channel);
      const from = Math.max(position, click.start);
      const to = Math.min(position + count, click.end);
      repaired.set(around.subarray(2 * (from - origin), 2 * (to - origin)), 2 * (from - position));
    }
    return repaired;
  };
  return { ...mix, read };
}

function clicksWithin(clicks: readonly Click[], from: number, to: number): readonly Click[] {
  let low = 0;
  let high = clicks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((clicks[middle]?.end ?? 0) <= from) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < clicks.length && (clicks[end]?.start ?? 0) < to) end += 1;
  return clicks.slice(low, end);
}

/**
 * Replaces a range of one channel by the stretch nearby whose surroundings resemble the range's most: in a voice that is
 * one period away.
 */
function replace(stereo: Int16Array, start: number, length: number, channel: number): void {
  const value = (at: number) => stereo[2 * at + channel] ?? 0;
  const shift = mostAlike(value, start, length);
  const last = length - 1;
  const made = Array.from({ length }, (_, at) => {
    const weight = Math.min(1, (at + 1) / FADE, (last - at + 1) / FADE);
    return Math.round(weight * value(start + at + shift) + (1 - weight) * value(start + at));
  });
  for (const [at, sample] of made.entries()) stereo[2 * (start + at) + channel] = sample;
}

/**
 * Every second frame of a template suffices to compare, and every second shift: voices have little above 12 kHz. It takes
 * 1.8 ms for a click instead of 3.5.
 */
const STEP = 2;

function mostAlike(value: (at: number) => number, start: number, length: number): number {
  let best = { shift: 0, difference: Number.POSITIVE_INFINITY };
  for (let distance = length + TEMPLATE; distance <= FARTHEST; distance += STEP) {
    for (const shift of [-distance, distance]) {
      let difference = 0;
      for (let at = 1; at <= TEMPLATE && difference < best.difference; at += STEP) {
        difference +=
          (value(start - at) - value(start - at + shift)) ** 2 +
          (value(start + length + at) - value(start + length + at + shift)) ** 2;
      }
      if (difference < best.difference) best = { shift, difference };
    }
  }
  return best.shift;
}
