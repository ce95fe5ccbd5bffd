/** Stretches of time in which somebody speaks. */

/** Start and end in seconds. */
export interface Segment {
  readonly start: number;
  readonly end: number;
}

/** Detection cuts soft beginnings and ends of words; this much around a segment is taken as speech too, in seconds. */
export const SPEECH_MARGIN = 0.15;

/**
 * Tells for rising times which segment they lie in, margin included.
 * @param segments in order of time
 * @returns a function from a time in seconds to the segment's position, or -1 between segments
 */
export function segmentFinder(segments: readonly Segment[]): (time: number) => number {
  let at = 0;
  return (time) => {
    while (at < segments.length && time > (segments[at]?.end ?? 0) + SPEECH_MARGIN) at += 1;
    const segment = segments[at];
    return segment !== undefined && time >= segment.start - SPEECH_MARGIN ? at : -1;
  };
}
