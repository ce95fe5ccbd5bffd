/** Names that somebody may have meant. */

/** Further away than this, two names have little in common. */
const FARTHEST = 3;

/** The known name with the fewest typing errors between it and the given one; null when none is near. */
export function nearestName(given: string, known: readonly string[]): string | null {
  const ranked = known
    .map((name) => ({ name, distance: editDistance(given.toLowerCase(), name.toLowerCase()) }))
    .sort((left, right) => left.distance - right.distance);
  const [best] = ranked;
  // A name of three letters is three errors away from any other.
  return best !== undefined && best.distance <= Math.min(FARTHEST, best.name.length / 2) ? best.name : null;
}

/** Levenshtein: how many letters must be put in, taken out or exchanged. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...from].entries()) {
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
