/** How long a batch will take: pure. */

/** One item as far as the estimate is concerned. */
export interface Share {
  /** By what it is metered; null while unknown. */
  readonly units: number | null;
  readonly state: 'finished' | 'going' | 'waiting';
  /** How much of it is done, 0 to 1; null while it does not tell. */
  readonly fraction: number | null;
}

/**
 * The expected time to the end in milliseconds, at the pace of what this run has done so far; null before the first
 * item is finished, since until then nobody knows how long one takes.
 * @param shares what this run does: neither what was done before nor what failed
 * @param elapsedMs since the first of them began
 */
export function estimateRemaining(shares: readonly Share[], elapsedMs: number): number | null {
  const usual = usualUnits(shares);
  let done = 0;
  let left = 0;
  for (const { units, state, fraction } of shares) {
    const size = units ?? usual;
    // Half-done items count: else the first estimate of fifteen that run side by side is fifteen times too long.
    const part = state === 'finished' ? 1 : state === 'waiting' ? 0 : (fraction ?? 0);
    done += size * part;
    left += size * (1 - part);
  }
  const hasPace = done > 0 && elapsedMs > 0 && shares.some(({ state }) => state === 'finished');
  return hasPace ? (elapsedMs * left) / done : null;
}

/** The mean of the known sizes; one for all where none is known. */
function usualUnits(shares: readonly Share[]): number {
  const known = shares.flatMap(({ units }) => (units === null ? [] : [units]));
  if (known.length === 0) return 1;
  return known.reduce((sum, units) => sum + units, 0) / known.length;
}
