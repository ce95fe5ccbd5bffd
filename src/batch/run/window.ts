/** How many jobs of this run may be under way at once. Pure. Source: specification, "Limits"; reliability, 2.2. */

export interface Window {
  /** What --jobs allows. */
  readonly most: number;
  /** What the service seems to allow now; at least 1. */
  readonly size: number;
  readonly inFlight: number;
  /** Since when the size is as it is, in ms of the clock. */
  readonly sinceMs: number;
  /** Nothing is tried before, unless a job of ours ends. */
  readonly closedUntilMs: number;
}

/** Others use the same 15 slots: so often one more is tried although none of ours has ended. */
export const GROW_EVERY_MS = 30_000;

/** A service that has no slot and does not say when: as long as the slowest status poll. */
const CLOSED_MS = 15_000;

export function openWindow(most: number, nowMs: number): Window {
  return { most, size: most, inFlight: 0, sinceMs: nowMs, closedUntilMs: nowMs };
}

/** A job is sent, or one of an earlier run is found running. */
export function enter(window: Window): Window {
  return { ...window, inFlight: window.inFlight + 1 };
}

/** A job has ended: its slot is free, and perhaps one more. */
export function leave(window: Window, nowMs: number): Window {
  return { ...resize(window, window.size + 1, nowMs), inFlight: window.inFlight - 1, closedUntilMs: nowMs };
}

/** What was sent came to nothing, which says nothing about slots. */
export function withdraw(window: Window): Window {
  return { ...window, inFlight: window.inFlight - 1 };
}

/**
 * The service had no slot for a job.
 * @param askedMs how long it asks to wait; null when it does not say
 */
export function putBack(window: Window, nowMs: number, askedMs: number | null): Window {
  const inFlight = window.inFlight - 1;
  const closedUntilMs = nowMs + (askedMs ?? CLOSED_MS);
  return { ...resize(window, inFlight, nowMs), inFlight, closedUntilMs, sinceMs: nowMs };
}

/** The window as time makes it: one larger for each half minute. */
export function grow(window: Window, nowMs: number): Window {
  const steps = Math.floor((nowMs - window.sinceMs) / GROW_EVERY_MS);
  if (steps < 1 || window.size >= window.most) return window;
  return {
    ...window,
    size: Math.min(window.most, window.size + steps),
    sinceMs: window.sinceMs + steps * GROW_EVERY_MS,
  };
}

/** Milliseconds until there may be room for one more; 0 is now, Infinity that only the end of a job makes some. */
export function msUntilRoom(window: Window, nowMs: number): number {
  const closedMs = Math.max(0, window.closedUntilMs - nowMs);
  if (window.inFlight < window.size) return closedMs;
  // Of its own accord it grows up to the most only.
  if (window.inFlight >= window.most) return Number.POSITIVE_INFINITY;
  const steps = window.inFlight + 1 - window.size;
  return Math.max(closedMs, window.sinceMs + steps * GROW_EVERY_MS - nowMs);
}

function resize(window: Window, wanted: number, nowMs: number): Window {
  const size = Math.max(1, Math.min(window.most, wanted));
  return size === window.size ? window : { ...window, size, sinceMs: nowMs };
}
