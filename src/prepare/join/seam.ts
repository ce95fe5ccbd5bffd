/** Takes the step out of the sound where two parts meet: a click is a step. */

/**
 * A step is heard when it is this many times as large as the largest near it. Against the mean of those near it, one seam in
 * sixteen would be bent in the noise of a room, whose samples jump about by themselves.
 */
const LOUD_STEP = 1.5;

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
    let largest = 0;
    for (let at = 2; at < frames; at += 1) {
      const left = stepTo(before(at), before(at - 1), before(at - 2));
      const right = stepTo(behind(at), behind(at - 1), behind(at - 2));
      largest = Math.max(largest, Math.abs(left), Math.abs(right));
    }
    const step = stepTo(behind(0), before(0), before(1));
    if (Math.abs(step) <= LOUD_STEP * largest + 1) continue;
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

/** How far a sample lies from where the two before it point. */
function stepTo(sample: number, previous: number, earlier: number): number {
  return sample - (2 * previous - earlier);
}

/**
 * Lets the sound of one part go on over the beginning of the next, which an encoder that knew nothing of it has coded badly. It
 * is heard alone at first, then fades into the next part's: linearly, since both have the same sound there, which an equal-power
 * fade would raise by 3 dB.
 * @param behind interleaved samples behind the border of the part before; silence is no sound: empty when there are none
 * @param head interleaved samples of the next part, changed in place
 * @param alone share of `behind` that is heard alone, 0 to 1
 */
export function carryOver(behind: Int16Array, head: Int16Array, channels: number, alone: number): void {
  const frames = behind.length / channels;
  const held = frames * alone;
  for (let at = 0; at < Math.min(behind.length, head.length); at += 1) {
    const share = Math.max(0, (Math.floor(at / channels) + 0.5 - held) / (frames - held));
    head[at] = limit((behind[at] ?? 0) * (1 - share) + (head[at] ?? 0) * share);
  }
}

/** Sum of two samples or more, kept within 16 bits. */
export function limit(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}
