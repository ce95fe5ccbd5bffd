/**
 * When to poll jobs, from their progress and from how long other jobs took: pure.
 * Source: performance figures, "Waiting".
 */
import type { JobKind } from '../../protocol/kind-names.ts';

/** When to look again at something that is being worked on. Source: performance figures, "Waiting". */

/** The progress of a job at one moment, in milliseconds of any clock. */
export interface ProgressSample {
  readonly atMs: number;
  /** 0 to 100. */
  readonly progress: number;
}

/** A new job, which may take only seconds, is polled twice a second. */
const FIRST_MS = 500;
const YOUNG_MS = 5_000;
/** Polling more often brings no visible gain. */
export const SHORTEST_MS = 1_000;
export const LONGEST_MS = 15_000;

/** A little before the expected end: too early costs one more request, too late costs the user's time. */
const SHARE_OF_REMAINDER = 0.9;

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/** Half of the time already waited: without a forecast, a result is noticed late by at most half of its duration. */
export function growingDelay(elapsedMs: number, longestMs: number = LONGEST_MS): number {
  return clamp(elapsedMs / 2, FIRST_MS, longestMs);
}

/**
 * Milliseconds until the next poll, from the progress between two samples.
 * @param begun the first sample in the present state
 * @param moved the sample at which the progress last changed
 * @param nowMs on the same clock
 */
export function nextPollDelay(begun: ProgressSample, moved: ProgressSample, nowMs: number): number {
  const elapsed = nowMs - begun.atMs;
  const end = expectEnd(begun, moved);
  if (end === null) return growingDelay(elapsed);
  return delayUntil(end, nowMs, elapsed < YOUNG_MS ? FIRST_MS : SHORTEST_MS);
}

/** The expected end at the speed between two samples; null without progress. */
function expectEnd(from: ProgressSample, to: ProgressSample): number | null {
  const done = to.progress - from.progress;
  if (done <= 0 || to.atMs <= from.atMs) return null;
  return to.atMs + ((100 - to.progress) * (to.atMs - from.atMs)) / done;
}

/** Milliseconds until the next poll of a job with this expected end: `shortestMs` to fifteen seconds. */
function delayUntil(expectedEndMs: number, nowMs: number, shortestMs: number = SHORTEST_MS): number {
  // A job that is overdue may take much longer: poll less and less often.
  const overdue = Math.max(0, nowMs - expectedEndMs) / 2;
  return clamp(Math.max(SHARE_OF_REMAINDER * (expectedEndMs - nowMs), overdue), shortestMs, LONGEST_MS);
}

/** Times in milliseconds of one clock. */
export interface JobForecast {
  readonly endMs: number;
  /** Of the whole job, from its start. */
  readonly totalMs: number;
  /** From its own progress, or only from the durations of other jobs. */
  readonly by: 'progress' | 'others';
}

/** Stages differ in speed; a tenth of the way is long enough to measure it, as progress comes in whole percents. */
const RECENT_PERCENT = 10;

/** The newest sample that is old enough to measure the recent speed; -1 for none. */
function indexOfMark(course: readonly ProgressSample[], progress: number): number {
  return course.findLastIndex((each) => progress - each.progress >= RECENT_PERCENT);
}

/**
 * Adds a sample to those of a job in its present state, and keeps the first one and those that measure the recent speed.
 * A sample without progress adds nothing. Progress that fell back starts the list again, since the work has restarted.
 */
export function addSample(
  course: readonly ProgressSample[],
  sighting: ProgressSample,
): readonly ProgressSample[] {
  const [first, ...later] = course;
  const last = course.at(-1);
  if (first === undefined || last === undefined || sighting.progress < last.progress) return [sighting];
  if (sighting.progress === last.progress) return course;
  const mark = indexOfMark(later, sighting.progress);
  return [first, ...later.slice(Math.max(0, mark)), sighting];
}

/** From the mean speed or the recent one, whichever ends sooner; null before there is progress. */
export function forecastByProgress(course: readonly ProgressSample[], nowMs: number): JobForecast | null {
  const [first] = course;
  const last = course.at(-1);
  if (first === undefined || last === undefined) return null;
  const end = expectEnd(first, last);
  if (end === null) return null;
  const mark = course[indexOfMark(course, last.progress)] ?? first;
  const byMeanSpeed = (100 * (last.atMs - first.atMs)) / (last.progress - first.progress);
  // A job without progress takes at least as long as it already has.
  const totalMs = Math.max(byMeanSpeed, nowMs - first.atMs);
  return { endMs: Math.min(end, expectEnd(mark, last) ?? end), totalMs, by: 'progress' };
}

/**
 * Milliseconds until one job is due for a poll: 1 to 15 s.
 * @param elapsedMs for how long it has been in its present state
 */
export function delayFor(forecast: JobForecast | null, elapsedMs: number, nowMs: number): number {
  if (forecast === null) return Math.max(SHORTEST_MS, growingDelay(elapsedMs));
  return delayUntil(forecast.endMs, nowMs, SHORTEST_MS);
}

/**
 * The longest time between two polls of several jobs, 1 to 15 s. Each forecast may be wrong, but together they show how
 * often one of the jobs ends. Polls are as frequent as that, and twice as frequent for jobs without progress.
 */
export function longestPause(forecasts: readonly JobForecast[]): number {
  const looksPerMs = forecasts.reduce((sum, { totalMs, by }) => sum + (by === 'others' ? 2 : 1) / totalMs, 0);
  return clamp(1 / looksPerMs, SHORTEST_MS, LONGEST_MS);
}

export interface WorkTimes {
  /** A job has ended. @param ms of work  @param quantity in the unit that it is metered by; null when unknown */
  add(kind: JobKind, ms: number, quantity: number | null): void;
  /**
   * Milliseconds of work that a job may take which has taken `elapsedMs` already: the median of those that took longer,
   * by the unit where the quantities are known. Null when there is none.
   */
  expect(kind: JobKind, quantity: number | null, elapsedMs: number): number | null;
}

interface WorkTime {
  readonly ms: number;
  readonly quantity: number | null;
}

/** The newest: enough that odd ones do not move their median, few enough to follow a service that slows down. */
const KEPT = 99;

export function createWorkTimes(): WorkTimes {
  const byKind = new Map<JobKind, readonly WorkTime[]>();
  return {
    add(kind, ms, quantity) {
      byKind.set(kind, [...(byKind.get(kind) ?? []), { ms, quantity }].slice(-KEPT));
    },
    expect(kind, quantity, elapsedMs) {
      const scaled = (byKind.get(kind) ?? []).map((each) => scale(each, quantity));
      return median(scaled.filter((ms) => ms > elapsedMs));
    },
  };
}

/** The time that a job took, as it would be for another quantity. */
function scale({ ms, quantity }: WorkTime, wanted: number | null): number {
  const isKnown = quantity !== null && quantity > 0 && wanted !== null && wanted > 0;
  return isKnown ? (ms * wanted) / quantity : ms;
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
