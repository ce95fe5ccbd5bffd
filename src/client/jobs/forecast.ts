/** When jobs are expected to end, and when to look at them for it: pure. Source: performance figures, "Waiting". */
import {
  clamp,
  delayUntil,
  expectEnd,
  growingDelay,
  LONGEST_MS,
  SHORTEST_MS,
  type Sighting,
} from './poll-schedule.ts';

/** Times in milliseconds of one clock. */
export interface Forecast {
  readonly endMs: number;
  /** Of the whole work, from its begin. */
  readonly totalMs: number;
  /** By its own progress, or only by how long others took. */
  readonly by: 'progress' | 'others';
}

/** Stages differ in speed; a tenth of the way is long enough to measure it, as progress comes in whole percents. */
const RECENT_PERCENT = 10;

/** The newest sighting that is old enough to tell the recent speed by; -1 for none. */
function indexOfMark(course: readonly Sighting[], progress: number): number {
  return course.findLastIndex((each) => progress - each.progress >= RECENT_PERCENT);
}

/**
 * The sightings of a job in its present state with one more: the first, and of the others those that will show its
 * recent speed. One without progress adds nothing; one that fell back restarts, as its work has.
 */
export function addSighting(course: readonly Sighting[], sighting: Sighting): readonly Sighting[] {
  const [first, ...later] = course;
  const last = course.at(-1);
  if (first === undefined || last === undefined || sighting.progress < last.progress) return [sighting];
  if (sighting.progress === last.progress) return course;
  const mark = indexOfMark(later, sighting.progress);
  return [first, ...later.slice(Math.max(0, mark)), sighting];
}

/** By the mean speed or the recent one, whichever ends sooner; null before it has come forward. */
export function forecastByProgress(course: readonly Sighting[], nowMs: number): Forecast | null {
  const [first] = course;
  const last = course.at(-1);
  if (first === undefined || last === undefined) return null;
  const end = expectEnd(first, last);
  if (end === null) return null;
  const mark = course[indexOfMark(course, last.progress)] ?? first;
  const byMeanSpeed = (100 * (last.atMs - first.atMs)) / (last.progress - first.progress);
  // One that stands still takes at least as long as it already has.
  const totalMs = Math.max(byMeanSpeed, nowMs - first.atMs);
  return { endMs: Math.min(end, expectEnd(mark, last) ?? end), totalMs, by: 'progress' };
}

/**
 * Milliseconds until the next look at a job for its own sake: 1 to 15 s.
 * @param elapsedMs for how long it has been in its present state
 */
export function delayFor(forecast: Forecast | null, elapsedMs: number, nowMs: number): number {
  if (forecast === null) return Math.max(SHORTEST_MS, growingDelay(elapsedMs));
  return delayUntil(forecast.endMs, nowMs, SHORTEST_MS);
}

/**
 * The longest time between two looks at so many jobs, 1 to 15 s. Each forecast may be wrong, but together they tell how
 * often one of the jobs ends: so often it is looked, and twice as often for those that show no progress.
 */
export function longestPause(forecasts: readonly Forecast[]): number {
  const looksPerMs = forecasts.reduce((sum, { totalMs, by }) => sum + (by === 'others' ? 2 : 1) / totalMs, 0);
  return clamp(1 / looksPerMs, SHORTEST_MS, LONGEST_MS);
}
