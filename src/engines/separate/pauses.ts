/** Where nobody speaks, and so where the background can be heard alone. */
import { type Segment, SPEECH_MARGIN } from './segments.ts';

/**
 * The stretches between segments, margins left out, from 0 to the end of the sound.
 * @param segments in order of time
 * @param seconds length of the sound
 */
export function findPauses(segments: readonly Segment[], seconds: number): Segment[] {
  const pauses: Segment[] = [];
  let start = 0;
  for (const segment of segments) {
    pauses.push({ start, end: segment.start - SPEECH_MARGIN });
    start = segment.end + SPEECH_MARGIN;
  }
  pauses.push({ start, end: seconds });
  return pauses.filter((pause) => pause.end > pause.start);
}

/**
 * The windows of pause nearest before a time and nearest after it, as positions of their first samples; pauses that are
 * shorter than a window are passed over.
 * @param window length in samples
 * @param count most windows on each side
 */
export function nearestWindows(
  pauses: readonly Segment[],
  time: number,
  { window, count, sampleRate }: { window: number; count: number; sampleRate: number },
): { before: number[]; after: number[] } {
  const before: number[] = [];
  const after: number[] = [];
  for (const pause of pauses.toReversed()) {
    if (pause.end > time) continue;
    const first = Math.ceil(pause.start * sampleRate);
    let at = Math.floor(pause.end * sampleRate) - window;
    for (; at >= first && before.length < count; at -= window) before.push(at);
    if (before.length === count) break;
  }
  for (const pause of pauses) {
    if (pause.start < time) continue;
    const last = Math.floor(pause.end * sampleRate) - window;
    let at = Math.ceil(pause.start * sampleRate);
    for (; at <= last && after.length < count; at += window) after.push(at);
    if (after.length === count) break;
  }
  return { before, after };
}
