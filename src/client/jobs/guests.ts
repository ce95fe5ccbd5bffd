/** When those who wait for jobs are looked after. The clock is handed in. */
import type { JobKind } from '../../protocol/kind-names.ts';
import { delayFor, longestPause } from './forecast.ts';
import { LONGEST_MS, SHORTEST_MS } from './poll-schedule.ts';
import type { WaitOptions, Watch } from './wait.ts';
import type { WorkTimes } from './work-times.ts';

/** A job that somebody waits for. Times on the clock of the runtime. */
export interface Guest {
  readonly kind: JobKind;
  readonly id: string;
  readonly watch: Watch;
  readonly options: WaitOptions;
  /** When its time is over. */
  readonly endMs: number;
  /** When it is worth a request of its own. */
  dueMs: number;
  /** To be looked at now: nobody has done so yet. */
  isUnseen: boolean;
  /** Known to have ended, and not yet read. */
  hasEnded: boolean;
}

/** Sets the next look at a guest that was just seen. */
export function planNextLook(guest: Guest, times: WorkTimes, nowMs: number): void {
  const { watch, options } = guest;
  guest.dueMs = nowMs + (options.everyMs ?? delayFor(watch.forecast(times), watch.elapsedMs(), nowMs));
}

export interface Circumstances {
  readonly times: WorkTimes;
  /** True for those whose looks fail at present. */
  isFailing(guest: Guest): boolean;
  readonly lookedAtMs: number;
  readonly nowMs: number;
}

/** Milliseconds until the next look at all of them, which is one list request a kind. */
export function msUntilLook(
  guests: readonly Guest[],
  { times, isFailing, lookedAtMs, nowMs }: Circumstances,
): number {
  if (guests.some(({ isUnseen }) => isUnseen)) return 0;
  const soonest = (instants: readonly number[]) => Math.min(...instants) - nowMs;
  const due = soonest(guests.map(({ dueMs }) => dueMs));
  const foretold = guests.filter((guest) => guest.options.everyMs === undefined && !isFailing(guest));
  const forecasts = foretold.flatMap(({ watch }) => watch.forecast(times) ?? []);
  const latest = forecasts.length === 0 ? due : lookedAtMs + longestPause(forecasts) - nowMs;
  // Jobs that are due one after the other are looked at together.
  const paces = guests.flatMap(({ options }) => options.everyMs ?? []);
  const earliest = lookedAtMs + Math.min(SHORTEST_MS, ...paces) - nowMs;
  // A clock that was set back must not make anybody wait.
  const longest = Math.max(LONGEST_MS, ...paces);
  const wanted = Math.min(Math.max(earliest, Math.min(due, latest)), longest);
  return Math.max(0, Math.min(wanted, soonest(guests.map(({ endMs }) => endMs))));
}
