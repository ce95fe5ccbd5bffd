/** Where cuts may lie: pure. */
import { countParts, type SplitLimits, type VideoSize } from './limits.ts';

/** Seconds from the first frame on. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

export interface CutWindow extends Stretch {
  /** The point that makes all parts equally long. */
  readonly equal: number;
}

/** Nobody pauses for less than once a minute; listening to more costs time for nothing. */
const MOST_HALF_SECONDS = 60;

/**
 * One window around each equal point: wherever in their windows the cuts lie, no part exceeds the limits and none is
 * shorter than half of an equal part.
 * @param parts how many; default: as many as the limits need
 */
export function cutWindows(
  video: VideoSize,
  limits: SplitLimits,
  parts = countParts(video, limits),
): CutWindow[] {
  const length = video.durationSeconds / parts;
  const room = Math.max(0, limits.mostSeconds - length);
  const half = Math.min(room / 2, length / 4, MOST_HALF_SECONDS);
  return Array.from({ length: parts - 1 }, (_, at) => {
    const equal = (at + 1) * length;
    return { equal, start: equal - half, end: equal + half };
  });
}
