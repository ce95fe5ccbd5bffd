/** Time ranges with speech, and the pauses between them. */

/** Start and end in seconds. */
export interface Segment {
  readonly start: number;
  readonly end: number;
}

/**
 * Detection cuts soft beginnings and ends of words, so this much time around a segment also counts as speech, in
 * seconds.
 */
export const SPEECH_MARGIN = 0.15;

/**
 * Finds the segment that contains a time, including its margin. Times must be in ascending order.
 * @param segments in order of time
 * @returns a function from a time in seconds to the segment's index, or -1 between segments
 */
export function segmentFinder(segments: readonly Segment[]): (time: number) => number {
  let at = 0;
  return (time) => {
    while (at < segments.length && time > (segments[at]?.end ?? 0) + SPEECH_MARGIN) at += 1;
    const segment = segments[at];
    return segment !== undefined && time >= segment.start - SPEECH_MARGIN ? at : -1;
  };
}

/**
 * Returns segments in order of time. Those whose margins would overlap become one, if it is not too long.
 * @param most longest segment in seconds
 */
export function joinSegments(segments: readonly Segment[], most: number): Segment[] {
  const joined: Segment[] = [];
  for (const segment of segments.toSorted((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    const isNear = last !== undefined && segment.start - last.end <= 2 * SPEECH_MARGIN;
    if (isNear && segment.end - last.start <= most) joined[joined.length - 1] = { ...last, end: segment.end };
    else joined.push(segment);
  }
  return joined;
}

/** Recognizers work best with sound of 5 to 30 s; whisper hears no more than 30 s at once. */
const LEAST_PACK_SECONDS = 5;
export const MOST_PACK_SECONDS = 30;

/**
 * Packs speech for recognizers: consecutive segments, with the pauses between them, until they last long enough. A pack lasts at
 * most 30 s, except one of a single longer segment. A short last pack joins the one before it if both fit into 30 s.
 * @param segments in order of time
 * @param fill seconds from which a pack gets no further segment
 */
export function packSegments(segments: readonly Segment[], fill: number = LEAST_PACK_SECONDS): Segment[][] {
  const packs: Segment[][] = [];
  const length = (pack: readonly Segment[]) => (pack.at(-1)?.end ?? 0) - (pack[0]?.start ?? 0);
  for (const segment of segments) {
    const last = packs.at(-1);
    const joined = [...(last ?? []), segment];
    const isOpen = last !== undefined && length(last) < fill;
    if (isOpen && length(joined) <= MOST_PACK_SECONDS) packs[packs.length - 1] = joined;
    else packs.push([segment]);
  }
  const [before = [], last = []] = packs.slice(-2);
  const joined = [...before, ...last];
  const isShort = packs.length > 1 && length(last) < LEAST_PACK_SECONDS;
  return isShort && length(joined) <= MOST_PACK_SECONDS ? [...packs.slice(0, -2), joined] : packs;
}

/**
 * Returns the range of each pack, with the margin that detection cut, but not into the neighbours.
 * @param seconds length of the sound
 * @param least shortest range where the neighbours leave room, in seconds
 * @param fill seconds from which a pack gets no further segment
 */
export function packRanges(
  segments: readonly Segment[],
  seconds: number,
  least: number,
  fill: number = LEAST_PACK_SECONDS,
): Segment[] {
  const packs = packSegments(segments, fill);
  const edge = (at: number, side: 'start' | 'end') =>
    side === 'start' ? packs[at]?.[0]?.start : packs[at]?.at(-1)?.end;
  return packs
    .map((_, at) => {
      const start = Math.max(0, edge(at - 1, 'end') ?? 0, (edge(at, 'start') ?? 0) - SPEECH_MARGIN);
      const limit = edge(at + 1, 'start') ?? Number.POSITIVE_INFINITY;
      const end = Math.min(seconds, (edge(at, 'end') ?? 0) + SPEECH_MARGIN);
      return { start, end: Math.min(limit, Math.max(end, start + least)) };
    })
    .filter((range) => range.end > range.start);
}

/**
 * Returns the ranges between segments, without margins, from 0 to the end of the sound.
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
 * Returns the nearest pause windows before and after a time, as positions of their first samples. Pauses shorter than a
 * window are ignored.
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
