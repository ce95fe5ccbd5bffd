/** Takes the step out of the sound where two parts meet: a click is a step. */

/** A step this many times as large as the usual one from sample to sample is heard. */
const LOUD_STEP = 4;

/**
 * Bends the end of one part and the beginning of the next towards each other where they would click, most at the seam and
 * fading out to both sides; leaves them as they are where they meet smoothly.
 * @param tail interleaved samples before the seam, changed in place
 * @param head interleaved samples behind it, changed in place
 * @returns whether any channel was changed
 */
export function smoothSeam(tail: Int16Array, head: Int16Array, channels: number): boolean {
  const frames = Math.min(tail.length, head.length) / channels;
  let changed = false;
  for (let channel = 0; channel < channels; channel += 1) {
    const before = (back: number) => tail[tail.length - (back + 1) * channels + channel] ?? 0;
    const behind = (at: number) => head[at * channels + channel] ?? 0;
    let usual = 0;
    for (let at = 1; at < frames; at += 1) {
      usual += Math.abs(before(at) - before(at - 1)) + Math.abs(behind(at) - behind(at - 1));
    }
    usual /= 2 * (frames - 1);
    const step = behind(0) - (2 * before(0) - before(1)); // beyond where the last two samples point
    if (Math.abs(step) <= LOUD_STEP * usual + 1) continue;
    changed = true;
    for (let at = 0; at < frames; at += 1) {
      const share = 0.25 * (1 + Math.cos((Math.PI * (at + 0.5)) / frames)); // from a half to none
      const left = tail.length - (at + 1) * channels + channel;
      tail[left] = limit(before(at) + step * share);
      head[at * channels + channel] = limit(behind(at) - step * share);
    }
  }
  return changed;
}

/** Sum of two samples or more, kept within 16 bits. */
export function limit(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}
