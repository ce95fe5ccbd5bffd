/** How many jobs of this run may run concurrently. Pure. Source: specification, "Limits"; reliability, 2.2. */

export interface SlotWindow {
  /** The limit of --jobs. */
  readonly most: number;
  /** The limit that the service currently seems to have; at least 1. */
  readonly size: number;
  readonly inFlight: number;
  /** When the size last changed, in ms of the clock. */
  readonly sinceMs: number;
  /** No job is sent before this time, unless one of ours ends. */
  readonly closedUntilMs: number;
}

/** How often one more job is tried although none of ours has ended, because other processes use the same 15 slots. */
export const GROW_EVERY_MS = 30_000;

/** The wait if the service has no slot and does not say until when: as long as the slowest status poll. */
const CLOSED_MS = 15_000;

export function openWindow(most: number, nowMs: number): SlotWindow {
  return { most, size: most, inFlight: 0, sinceMs: nowMs, closedUntilMs: nowMs };
}

/** A job is sent, or found running. */
export function enter(window: SlotWindow): SlotWindow {
  return { ...window, inFlight: window.inFlight + 1 };
}

/** A job has ended: its slot is free, and one more is tried. */
export function leave(window: SlotWindow, nowMs: number): SlotWindow {
  const inFlight = window.inFlight - 1;
  return { ...resize(window, window.size + 1, nowMs), inFlight, closedUntilMs: nowMs };
}

/** No job was created, which says nothing about slots. */
export function withdraw(window: SlotWindow): SlotWindow {
  return { ...window, inFlight: window.inFlight - 1 };
}

/**
 * The service had no slot for a job.
 * @param askedMs how long it asks to wait; null when it does not say
 */
export function putBack(window: SlotWindow, nowMs: number, askedMs: number | null): SlotWindow {
  const inFlight = window.inFlight - 1;
  const closedUntilMs = nowMs + (askedMs ?? CLOSED_MS);
  return { ...resize(window, inFlight, nowMs), inFlight, closedUntilMs, sinceMs: nowMs };
}

/** Grows the window by one for each half minute. */
export function grow(window: SlotWindow, nowMs: number): SlotWindow {
  const steps = Math.floor((nowMs - window.sinceMs) / GROW_EVERY_MS);
  if (steps < 1 || window.size >= window.most) return window;
  return {
    ...window,
    size: Math.min(window.most, window.size + steps),
    sinceMs: window.sinceMs + steps * GROW_EVERY_MS,
  };
}

/** Milliseconds until one more job may be sent; 0 is now, Infinity is not before a job ends. */
export function msUntilRoom(window: SlotWindow, nowMs: number): number {
  const closedMs = Math.max(0, window.closedUntilMs - nowMs);
  if (window.inFlight < window.size) return closedMs;
  // Time alone grows the window up to --jobs only.
  if (window.inFlight >= window.most) return Number.POSITIVE_INFINITY;
  const steps = window.inFlight + 1 - window.size;
  return Math.max(closedMs, window.sinceMs + steps * GROW_EVERY_MS - nowMs);
}

function resize(window: SlotWindow, wanted: number, nowMs: number): SlotWindow {
  const size = Math.max(1, Math.min(window.most, wanted));
  return size === window.size ? window : { ...window, size, sinceMs: nowMs };
}
