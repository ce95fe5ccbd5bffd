/**
 * Plans where a long video is cut: in the middle of the best silence near each equal point, on a frame boundary. Does
 * no I/O.
 */
import { type Fraction, secondsOf } from '../probe/facts.ts';
import type { SplitLimits, VideoSize } from './limits.ts';

/** A range of time, in seconds from the first frame. */
export interface TimeSpan {
  readonly start: number;
  readonly end: number;
}

export interface CutWindow extends TimeSpan {
  /** The cut that makes all parts equally long. */
  readonly equal: number;
}

/** Speakers pause at least once a minute, so searching further only costs time. */
const MOST_HALF_SECONDS = 60;

/**
 * Returns one window around each equal point. Wherever the cuts are within the windows, no part exceeds the limits and
 * no part is shorter than half of an equal part.
 */
export function cutWindows(video: VideoSize, limits: SplitLimits, parts: number): CutWindow[] {
  const length = video.durationSeconds / parts;
  const room = Math.max(0, limits.mostSeconds - length);
  const half = Math.min(room / 2, length / 4, MOST_HALF_SECONDS);
  return Array.from({ length: parts - 1 }, (_, at) => {
    const equal = (at + 1) * length;
    return { equal, start: equal - half, end: equal + half };
  });
}

/** Returns the parts of the ranges inside the frame. */
function within(stretches: readonly TimeSpan[], frame: TimeSpan): TimeSpan[] {
  return stretches
    .map(({ start, end }) => ({ start: Math.max(start, frame.start), end: Math.min(end, frame.end) }))
    .filter(({ start, end }) => end >= start);
}

/**
 * Returns the gaps between ranges inside the frame. Ranges may overlap; two ranges that touch have a gap of length 0.
 */
function gapsBetween(stretches: readonly TimeSpan[], frame: TimeSpan): TimeSpan[] {
  const inOrder = stretches.toSorted((left, right) => left.start - right.start);
  const gaps: TimeSpan[] = [];
  let free = frame.start;
  for (const { start, end } of inOrder) {
    if (start >= free) gaps.push({ start: free, end: start });
    free = Math.max(free, end);
  }
  if (free <= frame.end) gaps.push({ start: free, end: frame.end });
  return within(gaps, frame);
}

/** Returns the parts of the ranges outside the others. */
function minus(stretches: readonly TimeSpan[], others: readonly TimeSpan[]): TimeSpan[] {
  return stretches.flatMap((stretch) =>
    gapsBetween(
      others.filter(({ start, end }) => end > stretch.start && start < stretch.end),
      stretch,
    ),
  );
}

/** The loudness at a time: mean square, where full scale is 1. */
export interface Level {
  readonly at: number;
  readonly energy: number;
}

/** Facts about a video. Times are in seconds from its first frame. */
export interface CutFacts extends VideoSize {
  readonly frameRate: Fraction;
  /** Ranges without speech. */
  readonly silences: readonly TimeSpan[];
  /** Loudness around each equal point, for windows without a silence, in order of time. */
  readonly levels?: readonly Level[];
  /** Existing subtitles. No cut is inside a cue, unless the cue fills the whole window. */
  readonly cues?: readonly TimeSpan[];
  /** Frames before which the picture can be cut without decoding. */
  readonly cleanFrames?: readonly number[];
}

export interface Cut {
  /** The first frame after the cut. */
  readonly frame: number;
  readonly seconds: number;
  /**
   * `silence`: nobody speaks; `quietest`: the quietest moment of a window without silence; `border`: the loudness is
   * unknown.
   */
  readonly in: 'silence' | 'quietest' | 'border';
  /** The picture can be copied on both sides. */
  readonly isClean: boolean;
}

/** A shorter silence can be inside a word. */
const SHORTEST_SILENCE = 0.2;
/** Above this length, a longer silence is not better. */
const LONG_ENOUGH = 2;
/** A cut on a key frame keeps at least this distance from speech, in seconds. */
const MARGIN = 0.1;
/** The cost of the largest distance, from the equal point to the end of the window, relative to a long silence. */
const DISTANCE_WEIGHT = 0.5;

/**
 * Plans the cuts. If each window has a silence that contains a clean frame, the cuts use these frames and the picture
 * is copied. Otherwise the cuts are in the middle of the best silences.
 */
export function planCuts(facts: CutFacts, limits: SplitLimits, parts: number): Cut[] {
  const windows = cutWindows(facts, limits, parts);
  const silent = windows.map((window) => silencesIn(window, facts));
  const clean = windows.map((window, at) => bestClean(window, silent[at] ?? [], facts));
  if (clean.every((cut) => cut !== null)) return clean;
  return windows.map((window) => planCut(window, facts));
}

/** Plans one cut that need not be on a key frame: in the middle of the best silence, else at the quietest moment. */
export function planCut(window: CutWindow, facts: CutFacts): Cut {
  return bestMiddle(window, silencesIn(window, facts), facts) ?? withoutSilence(window, facts);
}

function silencesIn(window: CutWindow, { silences, cues = [] }: CutFacts): TimeSpan[] {
  const long = ({ start, end }: TimeSpan) => end - start >= SHORTEST_SILENCE;
  return minus(within(silences, window), cues).filter(long);
}

function score(window: CutWindow, silence: TimeSpan, at: number): number {
  const length = Math.min(silence.end - silence.start, LONG_ENOUGH) / LONG_ENOUGH;
  const half = (window.end - window.start) / 2 || 1;
  return length - (DISTANCE_WEIGHT * Math.abs(at - window.equal)) / half;
}

function bestClean(window: CutWindow, silences: readonly TimeSpan[], facts: CutFacts): Cut | null {
  const { frameRate, cleanFrames = [] } = facts;
  const candidates = cleanFrames.flatMap((frame) => {
    const at = secondsOf(frame, frameRate);
    const around = silences.find(({ start, end }) => at >= start + MARGIN && at <= end - MARGIN);
    return around === undefined ? [] : [{ frame, value: score(window, around, at) }];
  });
  const best = highest(candidates);
  return best === null ? null : cutAt(best.frame, 'silence', facts);
}

function bestMiddle(window: CutWindow, silences: readonly TimeSpan[], facts: CutFacts): Cut | null {
  const candidates = silences.map((silence) => {
    // In a long silence, any point one second away from speech is as good as its middle. Choose the one nearest to the
    // equal point.
    const inset = Math.min((silence.end - silence.start) / 2, LONG_ENOUGH / 2);
    const at = Math.min(Math.max(window.equal, silence.start + inset), silence.end - inset);
    return { at, value: score(window, silence, at) };
  });
  const best = highest(candidates);
  return best === null ? null : cutAt(nearestFrame(best.at, facts), 'silence', facts);
}

/**
 * Chooses the quietest moment outside all cues; else the point outside cues nearest to the equal point; else the equal
 * point.
 */
function withoutSilence(window: CutWindow, facts: CutFacts): Cut {
  const free = within(gapsBetween(facts.cues ?? [], window), window);
  const levels = (facts.levels ?? []).filter(({ at }) =>
    free.some(({ start, end }) => at >= start && at <= end),
  );
  const quietest = highest(levels.map(({ at, energy }) => ({ at, value: -energy })));
  if (quietest !== null) return cutAt(nearestFrame(quietest.at, facts), 'quietest', facts);
  const points = free.map(({ start, end }) => {
    const at = Math.min(Math.max(window.equal, start), end);
    return { at, value: -Math.abs(at - window.equal) };
  });
  return cutAt(nearestFrame(highest(points)?.at ?? window.equal, facts), 'border', facts);
}

function highest<T extends { readonly value: number }>(candidates: readonly T[]): T | null {
  return candidates.reduce<T | null>(
    (best, candidate) => (best === null || candidate.value > best.value ? candidate : best),
    null,
  );
}

function nearestFrame(seconds: number, { frameRate }: CutFacts): number {
  return Math.round((seconds * frameRate.num) / frameRate.den);
}

function cutAt(frame: number, where: Cut['in'], { frameRate, cleanFrames = [] }: CutFacts): Cut {
  return { frame, seconds: secondsOf(frame, frameRate), in: where, isClean: cleanFrames.includes(frame) };
}
