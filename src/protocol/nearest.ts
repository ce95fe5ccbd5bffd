/** Suggests names similar to a mistyped one. */

/** Two names with more differences have little in common. */
const FARTHEST = 3;

/** Returns the known name with the fewest typing errors; null if none is similar. */
export function nearestName(given: string, known: readonly string[]): string | null {
  const ranked = known
    .map((name) => ({ name, distance: editDistance([...given.toLowerCase()], [...name.toLowerCase()]) }))
    .sort((left, right) => left.distance - right.distance);
  const [best] = ranked;
  // Any two names of three letters differ by at most three errors.
  return best !== undefined && best.distance <= Math.min(FARTHEST, best.name.length / 2) ? best.name : null;
}

/** The Levenshtein distance: how many letters or words must be inserted, removed or replaced. */
export function editDistance(from: readonly string[], to: readonly string[]): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, letter] of from.entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const exchange = at(row, column - 1) + (to[column - 1] === letter ? 0 : 1);
      next.push(Math.min(exchange, at(row, column) + 1, at(next, column - 1) + 1));
    }
    row = next;
  }
  return at(row, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
