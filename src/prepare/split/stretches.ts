/** Sets of stretches of time, in order of time and apart from one another. */
import type { Stretch } from './windows.ts';

/** The parts of the stretches that lie inside the frame. */
export function within(stretches: readonly Stretch[], frame: Stretch): Stretch[] {
  return stretches
    .map(({ start, end }) => ({ start: Math.max(start, frame.start), end: Math.min(end, frame.end) }))
    .filter(({ start, end }) => end >= start);
}

/** What lies between stretches, which may overlap, inside the frame; where two touch, a gap without length. */
export function gapsBetween(stretches: readonly Stretch[], frame: Stretch): Stretch[] {
  const inOrder = stretches.toSorted((left, right) => left.start - right.start);
  const gaps: Stretch[] = [];
  let free = frame.start;
  for (const { start, end } of inOrder) {
    if (start >= free) gaps.push({ start: free, end: start });
    free = Math.max(free, end);
  }
  if (free <= frame.end) gaps.push({ start: free, end: frame.end });
  return within(gaps, frame);
}

/** What is left of the stretches outside the others. */
export function minus(stretches: readonly Stretch[], others: readonly Stretch[]): Stretch[] {
  return stretches.flatMap((stretch) =>
    gapsBetween(
      others.filter(({ start, end }) => end > stretch.start && start < stretch.end),
      stretch,
    ),
  );
}
